"""Properties are tried on the same examples at every push, and on fresh ones by make test-long."""

from hypothesis import settings

settings.register_profile("push", derandomize=True, deadline=None)
settings.register_profile("long", deadline=None, max_examples=500)
settings.load_profile("push")
