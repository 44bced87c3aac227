"""Scripts that run inside a peer's own environment and write one JSON object per line.

They see the peer, NumPy and `benchmarks.timing`; discreet itself is not installed there.
"""
