"""Which clean-correct images to re-photograph first."""
