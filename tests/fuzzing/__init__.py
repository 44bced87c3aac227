"""Random questions in all that the checker accepts, to find one that makes an engine fail."""
