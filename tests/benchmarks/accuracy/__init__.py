"""The benchmark of errors: its data, its verdicts and its tables, on few rows."""
