"""The benchmark of engines: its shapes, on few rows."""
