"""What the benchmark of streams and its peer share. Needs nothing but the standard library."""

HORIZONS = (30, 365, 1024, 3653, 36_525, 10**6)

PEER_HORIZONS = (30, 365, 1024, 3653)

PEER_RUNS = 200

EPSILON = 1

DELTA = 1e-6
