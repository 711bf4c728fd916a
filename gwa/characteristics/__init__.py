"""
What papers measure of a workload, as they define it: one file for each paper.

`thesis` is Anoep (2009), `minh` is Minh and Wolters (2009, 2010), and `published` holds their printed
numbers beside ours.
"""
