"""The measuring pipelines before there was one: what it is compared with."""
