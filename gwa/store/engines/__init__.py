"""The engines under a store: DuckDB, and Spark over Parquet; what both promise stands in `base`."""
