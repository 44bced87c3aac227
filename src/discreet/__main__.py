"""Run the command as `python -m discreet`."""

from discreet.cli import main

main()
