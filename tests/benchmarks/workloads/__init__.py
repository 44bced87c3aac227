"""The benchmark of workloads: its shapes, on few rows."""
