"""
Any table with one row per job: which column is which field, in which unit.

A `Sample` of the table and the vocabulary make a `Plan`, which becomes one SELECT. What neither names nor
values decide becomes a question, and all questions one message.
"""
