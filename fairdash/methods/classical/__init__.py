"""The classical baselines, and the base models of post-processing."""
