"""Fair log-loss: the robust predictor under a constraint on its probabilities."""
