"""
The measures of realism: found by looking, a file for each aspect of a workload.

To add one, write a function of a workload under `gwa.evaluation.measure.measure` in a file here. It returns a
statistic: a number, or a `Sample` of numbers; None where the workload does not say or is too small. How far
two statistics are from each other is the distance that the measure names, 0 for a workload and itself.
"""
