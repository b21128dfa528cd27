"""Sharp bounds on what a paired robustness evaluation does and does not reveal."""
