"""Chapter 6 of Anoep's thesis (2009): all its experiments, its figures, and its findings one by one."""
