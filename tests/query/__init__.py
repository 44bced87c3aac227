"""Questions: read, checked, planned."""
