"""Discreet answers questions about sensitive data without giving anyone in it away."""

__version__ = "0.1.0"
