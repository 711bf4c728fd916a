"""What is measured of a store, as numbers and small tables, without a word on how it is shown."""
