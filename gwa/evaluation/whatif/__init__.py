"""
What waits would be on a changed machine: a log replayed as it was and as it would be.

`world` takes jobs from a trace, `changes` change them or their machine, `effect` simulates both worlds,
`validation` compares the replay of the machine as it was with the waits that the log records, `answer` says
what the change does, how sure that is, and whether the answer is about this machine at all.
"""
