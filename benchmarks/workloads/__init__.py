"""Seven workloads: ours, the same SQL without privacy, and peers, on the same data in one run.

`questions` and `child` need the standard library only: peers import them in
environments of their own, where discreet is not installed.
"""
