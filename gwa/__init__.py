"""The toolbox and archive for workload traces of clusters, grids and clouds."""

__version__ = "0.1.0"
