"""Sentences about groups of one unit each, of which none is shown."""

from discreet.query.questions import OneUnitEach


def one_unit_sentence(why: OneUnitEach) -> str:
    """Return that a result has no groups by its nature, and what to ask instead."""
    return (
        f"Every group of {why.key} belongs to one privacy unit, and a group of one unit is not "
        "shown. So the result has no groups. Put this query in FROM and aggregate its groups "
        f"outside, or do not group by {why.key}."
    )
