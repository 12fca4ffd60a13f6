"""Tables by address: a folder of Parquet files, an object store, a database."""
