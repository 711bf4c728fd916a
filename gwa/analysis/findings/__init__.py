"""
What is worth knowing about a trace, in plain sentences: rules by topic, found by looking.

To add one, write a function of the facts under `gwa.analysis.finding.finding` in a file here. It returns how
remarkable the finding is and a sentence with its figures, or None where the trace is nothing special. Its
docstring gives the threshold, and is shown beside the sentence.
"""
