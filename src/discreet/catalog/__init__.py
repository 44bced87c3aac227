"""The catalog: what the owner declares. Everything in it is public."""
