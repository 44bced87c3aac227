"""The auditor, what it is held to, and our own trial."""
