"""How fast discreet is, next to its peers: `python -m benchmarks`."""

import os

# CPU time counts every thread, and idle BLAS threads spin: one thread each, here and in peers.
# This must stand before NumPy is first imported, so it stands in the package itself.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
