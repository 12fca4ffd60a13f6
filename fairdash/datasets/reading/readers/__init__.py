"""The kinds of files that are read, a module each: see `reading.registry`."""
