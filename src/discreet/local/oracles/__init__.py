"""The frequency oracles, one file for each idea."""
