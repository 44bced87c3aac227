"""PostgreSQL clients of a server."""
