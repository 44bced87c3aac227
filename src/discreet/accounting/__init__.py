"""What happened, what it costs, what is left."""
