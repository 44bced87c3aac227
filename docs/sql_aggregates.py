"""Which aggregates of which values are answered where: the checker is asked for each."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from discreet.curator import Curator
from discreet.errors import DiscreetError
from discreet.query.expressions.rejections import AGGREGATES
from tests.properties.clinic import clinic
from tests.properties.curators import curator_of

VALUES = {
    "whole numbers": "minutes",
    "real numbers": "cost",
    "dates": "day",
    "texts": "CASE WHEN cost > 100 THEN 'high' ELSE 'low' END",
    "booleans": "cost > 100",
}
"""An argument of each kind, with bounds or declared values."""

CALLS = {
    ("corr", "covar_pop", "covar_samp"): "{name}(minutes, {x})",
    ("arg_max", "arg_min", "max_by", "min_by"): "{name}({x}, minutes)",
    ("quantile", "quantile_cont", "quantile_disc", "approx_quantile", "reservoir_quantile"): (
        "{name}({x}, 0.5)"
    ),
    ("percentile_cont", "percentile_disc"): "{name}(0.5) WITHIN GROUP (ORDER BY {x})",
    ("string_agg", "listagg", "group_concat"): "{name}({x}, ',')",
    ("approx_top_k",): "{name}({x}, 2)",
    tuple(each for each in sorted(AGGREGATES) if each.startswith("regr_")): "{name}(minutes, {x})",
}
"""How aggregates are called that have more than one argument."""

OVER_ALL = "SELECT {call} FROM visits"
OF_A_UNIT = "SELECT COUNT(x) FROM (SELECT patient_id, {call} AS x FROM visits GROUP BY patient_id)"
OF_A_WINDOW = "SELECT COUNT(x) FROM (SELECT {call} OVER (PARTITION BY patient_id) AS x FROM visits)"


def aggregates_table() -> Iterator[str]:
    """Yield a table of aggregates, and a line of those that are always rejected."""
    curator = curator_of(clinic(3))
    found = {
        name: [kinds_in(curator, name, place) for place in (OVER_ALL, OF_A_UNIT, OF_A_WINDOW)]
        for name in sorted(AGGREGATES - {"count_star"})
    }
    yield "| aggregate | of all people, with noise | with `GROUP BY` the unit | in a window |"
    yield "|---|---|---|---|"
    for name, kinds in found.items():
        if any(kinds):
            yield f"| `{name.upper()}` | {' | '.join(map(_listed, kinds))} |"
    never = [f"`{name.upper()}`" for name, kinds in found.items() if not any(kinds)]
    yield f"\nRejected on private tables: {', '.join(never)}."


def kinds_in(curator: Curator, name: str, place: str) -> list[str]:
    """Return the kinds of values of which an aggregate is answered in a place."""
    shape = next((shape for names, shape in CALLS.items() if name in names), "{name}({x})")
    return [
        kind
        for kind, argument in VALUES.items()
        if is_answered(curator, place.format(call=shape.format(name=name, x=argument)))
    ]


def is_answered(curator: Curator, sql: str) -> bool:
    """Return whether a query would be answered."""
    with suppress(DiscreetError):
        curator.explain(sql, epsilon=1)
        return True
    return False


def _listed(kinds: Iterable[str]) -> str:
    text = ", ".join(kinds) or "–"
    if text == ", ".join(VALUES):
        return "anything"
    return text.replace("whole numbers, real numbers", "numbers")
