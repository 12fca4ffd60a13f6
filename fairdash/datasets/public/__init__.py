"""Public tables: downloaded from their publishers, checked, with their roles."""
