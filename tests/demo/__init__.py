"""Made-up data."""
