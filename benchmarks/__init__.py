"""How fast discreet is, next to its peers: `python -m benchmarks`."""
