"""Forms of SQL, each with questions of its own."""
