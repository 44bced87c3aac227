"""Limits on the groups of a unit: where they are used, what they save, and what they change."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from discreet import open as open_data
from discreet.catalog.resolve import catalog_from
from discreet.catalog.toml import toml_from
from discreet.curator import Curator
from discreet.errors import CatalogError, ParameterError
from discreet.mechanisms import REPLACE, GaussianPartitionSelection, PartitionSelection
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.mechanisms.sensitivity import ADD_REMOVE
from discreet.query.plan import PlannedRelease
from discreet.query.plan.group_limits import with_groups_per_unit
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.plan.sensitivity import unit_count_sensitivity
from discreet.query.questions import Counted
from tests.curated import curator_of

UNITS = 40
CARRIERS = ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"]
ROWS = [
    (unit, CARRIERS[(unit + place) % 8], place % 3, place)
    for unit in range(UNITS)
    for place in range(unit % 12 + 1)
]

BY_UNITS = "SELECT carrier, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY carrier"
BY_BOTH = (
    "SELECT carrier, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS u FROM visits GROUP BY carrier"
)


def table(rows: Sequence[tuple[int, str, int, int]] = ROWS) -> dict[str, Any]:
    names = ("patient_id", "carrier", "place", "cost")
    return {name: list(each) for name, each in zip(names, zip(*rows, strict=True), strict=True)}


def made(**declared: Any) -> Curator:
    given: dict[str, Any] = {
        "rows_per_unit": 10,
        "delta": 1e-4,
        "question_delta": 1e-6,
        "bounds": {"cost": (0, 12)},
        **declared,
    }
    return curator_of(table(), **given)


def prepared(**declared: Any) -> Curator:
    given: dict[str, Any] = {
        "rows_per_unit": 10,
        "epsilon": 100,
        "delta": 1e-4,
        "bounds": {"cost": (0, 12)},
        **declared,
    }
    return open_data({"visits": pa.table(table())}, unit="patient_id", **given)


def planned(curator: Curator, sql: str, groups: int | None = None) -> PlannedRelease:
    catalog = with_groups_per_unit(curator.catalog, groups)
    (release,) = curator._planner.draft(sql, EpsilonTarget(1), catalog).releases
    return release


def name_of(curator: Curator, sql: str, groups: int | None = None) -> str:
    catalog = with_groups_per_unit(curator.catalog, groups)
    (identity,) = curator._planner.draft(sql, EpsilonTarget(1), catalog).identities
    return identity.whole


KNOWN: dict[str, Any] = {"values": {"carrier": CARRIERS}}


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_numbers_of_units_are_as_sensitive_as_the_limit_says(neighbours: Any) -> None:
    curator = made(neighbours=neighbours, delta=0, question_delta=None, **KNOWN)
    moved = 1 if neighbours is ADD_REMOVE else 2
    for groups in (1, 2, 3):
        (measure,) = planned(curator, BY_UNITS, groups).components
        assert measure.measured.sensitivity.l1 == moved * groups
        assert measure.measured.sensitivity.l2_squared == moved * groups
        assert measure.noise.scale == moved * groups
    (without,) = planned(curator, BY_UNITS).components
    assert without.measured.sensitivity.l1 == 8


def test_the_sensitivity_of_marks_is_that_of_all_pairs_of_contributions() -> None:
    """By brute force over all units that are counted in at most g of four groups."""
    for groups, places in product((1, 2, 3), (2, 4)):
        marks = [each for each in product((0, 1), repeat=places) if sum(each) <= groups]
        alone = unit_count_sensitivity(groups, places, ADD_REMOVE)
        assert max(sum(each) for each in marks) == alone.l1 == alone.l2_squared
        apart = [
            sum(abs(a - b) for a, b in zip(one, other, strict=True))
            for one, other in product(marks, repeat=2)
        ]
        replaced = unit_count_sensitivity(groups, places, REPLACE)
        assert max(apart) == replaced.l1 == replaced.l2_squared


def test_thresholds_of_units_follow_the_limit() -> None:
    curator = made()
    one, some, many = (planned(curator, BY_UNITS, groups) for groups in (1, 5, None))
    for release, kind, groups in (
        (one, PartitionSelection, 1),
        (some, GaussianPartitionSelection, 5),
        (many, GaussianPartitionSelection, 10),
    ):
        assert release.key_selection is not None
        mechanism = release.key_selection.mechanism
        assert isinstance(mechanism, kind)
        assert mechanism.groups == groups
        assert mechanism.epsilon == 1
    thresholds = [
        each.key_selection.mechanism.threshold for each in (one, some, many) if each.key_selection
    ]
    assert thresholds == [14, 52, 75]


def test_a_limit_that_changes_nothing_leaves_plan_and_name_as_they_were() -> None:
    """One group, as few rows as groups, declared groups that are as few, and counts of rows."""
    curator, known = made(), made(**KNOWN)
    total = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
    rows = "SELECT carrier, COUNT(*) AS n FROM visits GROUP BY carrier"
    for asked, sql, groups in (
        (curator, total, 1),
        (curator, BY_UNITS, 10),
        (curator, BY_UNITS, 99),
        (known, BY_UNITS, 8),
        (known, rows, 1),
        (curator, rows, 3),
    ):
        assert planned(asked, sql, groups) == planned(asked, sql)
        assert name_of(asked, sql, groups) == name_of(asked, sql)
    declared = made(groups_per_unit=99)
    assert name_of(declared, BY_UNITS) == name_of(curator, BY_UNITS)
    assert name_of(curator, BY_UNITS, 2) != name_of(curator, BY_UNITS)
    assert name_of(curator, BY_UNITS, 2) == name_of(made(groups_per_unit=2), BY_UNITS)
    assert name_of(curator, BY_UNITS, 2) != name_of(curator, BY_UNITS, 3)


def test_different_values_are_limited_where_a_unit_then_has_fewer() -> None:
    """Of two values in at most g groups there are 2 g, and never more than rows."""
    values = {"carrier": CARRIERS, "place": [0, 1]}
    curator = made(delta=0, question_delta=None, values=values)
    sql = "SELECT carrier, COUNT(DISTINCT place) AS n FROM visits GROUP BY carrier"
    found = [planned(curator, sql, groups) for groups in (1, 3, 5, 6, None)]
    sizes = [each.components[0].measured.sensitivity.l1 for each in found]
    assert sizes == [2, 6, 10, 10, 10]
    assert [each.queries[0].contribution_limit for each in found] == sizes
    limited = [each.aggregation.group_limit is not None for each in found]
    assert limited == [True, True, False, False, False]


def test_catalog_limits_apply_by_table_and_by_column() -> None:
    whole, columns = (
        made(groups_per_unit=2),
        made(groups_per_unit={"visits": {"carrier": 1, "place": 2}}),
    )
    pairs = (
        "SELECT carrier, place, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY carrier, place"
    )
    other = "SELECT cost, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY cost"
    computed = "SELECT upper(carrier) AS c, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY c"
    assert [limit_of(whole, each) for each in (BY_UNITS, pairs, other, computed)] == [2, 2, 2, 2]
    assert [limit_of(columns, each) for each in (BY_UNITS, pairs, other, computed)] == [
        1,
        2,
        None,
        1,
    ]
    assert limit_of(columns, BY_UNITS, 3) == 3


def limit_of(curator: Curator, sql: str, groups: int | None = None) -> int | None:
    limit = planned(curator, sql, groups).aggregation.group_limit
    return None if limit is None else limit.most


def test_columns_that_the_catalog_limits_are_read_from_prepared_tables() -> None:
    """Groups are then chosen before WHERE, as rows are, and the plan says so."""
    with prepared(groups_per_unit={"visits": {"carrier": 1}}) as curator:
        for sql in (BY_UNITS, BY_BOTH, BY_UNITS.replace("GROUP", "WHERE cost > 2 GROUP")):
            release = planned(curator, sql)
            assert release.aggregation.group_limit is not None
            assert release.aggregation.group_limit.is_in_rows
            assert all(each.group_bounding is None for each in release.queries)
            text = curator.explain(sql, epsilon=1).to_text(sql=True)
            assert '"carrier by rank" <= 1' in text
            assert "dense_rank" not in text
        per_query = replace(
            curator.catalog,
            source=replace(
                curator.catalog.source,
                row_choice=type(curator.catalog.source.row_choice)("per-query"),
            ),
        )
        (release,) = curator._planner.draft(BY_UNITS, EpsilonTarget(1), per_query).releases
        assert release.aggregation.group_limit is not None
        assert not release.aggregation.group_limit.is_in_rows


def test_a_table_that_is_joined_with_itself_is_limited_by_the_query() -> None:
    """Each side has a unit's one carrier, of which both together make more than one group."""
    sql = (
        "SELECT a.carrier, b.carrier AS c, COUNT(DISTINCT a.patient_id) AS n FROM visits a "
        "JOIN visits b ON a.patient_id = b.patient_id GROUP BY a.carrier, b.carrier"
    )
    with prepared(groups_per_unit={"visits": {"carrier": 2}}, rows_per_unit=3) as curator:
        limit = planned(curator, sql).aggregation.group_limit
        assert limit is not None
        assert (limit.most, limit.is_in_rows) == (2, False)


# --------------------------------------------------------------------------- what selects groups


def selecting(curator: Curator, sql: str, groups: int | None = None) -> tuple[Counted, type]:
    selection = planned(curator, sql, groups).key_selection
    assert selection is not None
    return selection.key_selection.of, type(selection.mechanism)


def test_groups_are_selected_by_rows_where_these_are_released_anyway() -> None:
    curator = made()

    def by(what: str, groups: int | None = None) -> tuple[Counted, type]:
        sql = f"SELECT carrier, {what} FROM visits GROUP BY carrier"  # noqa: S608 - made here
        return selecting(curator, sql, groups)

    assert by("COUNT(*)") == (Counted.ROWS, PartitionSelection)
    for what in ("AVG(cost)", "COUNT(*), SUM(cost)", "STDDEV(cost)", "SUM(cost), AVG(cost)"):
        assert by(what) == (Counted.ROWS, RowThreshold)
    assert by("SUM(cost)") == (Counted.UNITS, GaussianPartitionSelection)
    assert by("MEDIAN(cost)") == (Counted.UNITS, GaussianPartitionSelection)
    assert by("AVG(cost), COUNT(DISTINCT patient_id)") == (
        Counted.UNITS,
        GaussianPartitionSelection,
    )
    assert by("AVG(cost)", 1) == (Counted.UNITS, PartitionSelection)
    assert by("AVG(cost)", 2) == (Counted.ROWS, RowThreshold)


def test_a_selection_by_rows_spends_all_of_epsilon_on_what_is_asked() -> None:
    release = planned(made(), "SELECT carrier, COUNT(*), AVG(cost) FROM visits GROUP BY carrier")
    (measure,) = release.components
    assert measure.epsilon == release.epsilon == 1
    assert sum(each.units for each in release.queries) == 0
    first, second = release.events
    assert (first.epsilon, second.scale / second.sensitivity) == (0, Fraction(1))  # type: ignore[attr-defined]


def test_margins_near_the_threshold_are_honest() -> None:
    """A group that may be shown for its noise alone has a wide ± of its count, and no other."""
    rows = [(n, ("big", "mid")[n % 40 == 0], 0, n % 12) for n in range(12_000)]
    curator = curator_of(
        table(rows), rows_per_unit=1, delta=1e-4, question_delta=1e-6, bounds={"cost": (0, 12)}
    )
    sql = "SELECT carrier, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY carrier"
    release = planned(curator, sql)
    assert release.key_selection is not None
    mechanism = release.key_selection.mechanism
    answer = curator.ask(sql, epsilon=Fraction(1, 10))
    wide = mechanism.widest(Fraction(95, 100)) if isinstance(mechanism, RowThreshold) else 0
    spreads = {row["carrier"]: row for row in _rows_with_margins(answer)}
    assert spreads["big"]["n"] < wide * 10
    assert spreads["big"]["m"] is not None
    assert spreads["mid"]["m"] is None
    assert spreads["mid"]["n"] > spreads["big"]["n"]


def _rows_with_margins(answer: Any) -> list[dict[str, Any]]:
    keys = answer.to_arrow().column("carrier").to_pylist()
    return [
        {"carrier": key, "n": n, "m": m}
        for key, n, m in zip(keys, answer.margins["n"], answer.margins["m"], strict=True)
    ]


# --------------------------------------------------------------------------- ask and explain


def test_ask_and_explain_take_a_limit_and_say_it() -> None:
    curator = made()
    text = curator.explain(BY_UNITS, epsilon=1, groups_per_unit=1).to_text()
    assert "Counts each patient_id in at most 1 group, so" in " ".join(text.split())
    both = " ".join(curator.explain(BY_BOTH, epsilon=1, groups_per_unit=2).to_text().split())
    assert "rows of each patient_id, from at most 2 groups, so" in both
    answer = curator.ask(BY_UNITS, epsilon=1, groups_per_unit=1)
    assert any("in at most 1 group" in each for each in answer.notes)
    before = curator.remaining
    curator.ask(BY_UNITS, epsilon=1, groups_per_unit=1)
    assert curator.remaining == before
    curator.ask(BY_UNITS, epsilon=1)
    assert curator.remaining != before
    for wrong in (0, -1, 1.5, "2", True):
        with pytest.raises(ParameterError, match="groups_per_unit"):
            curator.ask(BY_UNITS, epsilon=1, groups_per_unit=wrong)  # type: ignore[arg-type]


def test_a_written_catalog_has_its_limits() -> None:
    for limits in (3, {"visits": {"carrier": 1, "place": 12}}):
        catalog = made(groups_per_unit=limits).catalog
        text = toml_from(catalog)
        assert "groups_per_unit = " in text
        again = catalog_from(tomllib.loads(text))
        assert again.tables == catalog.tables


def test_columns_of_limits_must_be_columns() -> None:
    for limits, says in (
        ({"carriers": 1}, "names carriers, which is not a column of visits. Did you mean carrier?"),
        ({"carrier": 1, "CARRIER": 2}, "names carrier twice"),
    ):
        with pytest.raises(CatalogError, match=re.escape(says)):
            made(groups_per_unit={"visits": limits})


@pytest.mark.parametrize("name", ["carrier by rank", "Carrier BY Rank"])
def test_a_column_called_like_a_rank_is_not_taken_for_one(name: str) -> None:
    """It would be read in its place, and let a unit be counted in every group."""
    rows = {**table(), name: [0] * len(ROWS)}
    with open_data(
        {"visits": pa.table(rows)},
        unit="patient_id",
        rows_per_unit=12,
        groups_per_unit={"visits": {"carrier": 1}},
        epsilon=1000,
        delta=1e-4,
        **KNOWN,
    ) as curator:
        release = planned(curator, BY_UNITS)
        assert release.components[0].measured.sensitivity.l1 == 1
        answer = curator.ask(BY_UNITS, epsilon=100)
    assert answer.to_pandas()["n"].sum() == UNITS
