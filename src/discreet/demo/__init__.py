"""Made-up data to try Discreet on: the same for everybody, and nobody's."""
