"""Tests of what is said before anything is paid."""
