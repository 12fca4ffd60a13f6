"""The models that runs keep, and the rows they are measured on."""
