"""
Attacks on gwa that count what they do: mutated logs, kills, disks that fail, and Ctrl-C; one table of it all.

``make campaign N=20000`` runs it, ``make slow`` a small one.
"""
