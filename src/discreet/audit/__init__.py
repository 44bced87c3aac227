"""Statistical lower bounds on what anything that claims to be private gives away."""
