"""Quality and fairness of groups and subgroups; what is public is `fairdash.metrics`."""
