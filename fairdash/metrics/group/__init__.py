"""Quality and fairness of groups and subgroups, public in `fairdash.metrics`."""
