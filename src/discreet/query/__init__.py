"""SQL in, a plan out: everything that is decided before any data is read."""
