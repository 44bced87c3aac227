"""Claims that begin "for every": what no database and no question may break."""
