"""What is taken away of a run: what reproduces it elsewhere."""

from fairdash.reports._reproduce import portable_spec
