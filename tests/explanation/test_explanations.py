"""Explanations: everything is said, before anything is paid, and nothing can lie."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.amounts import number_text
from discreet.answer import Balance, Price
from discreet.estimators import ExpectedMargin, MarginPerCount, RankMargin
from discreet.explanation import ExplainedColumn, Explanation, explain_plan, notes_of
from discreet.explanation.from_plan import unit_of
from discreet.explanation.sentences import listed, sentence, spread_text
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE
from discreet.query.questions import Aggregate
from discreet.query.tree import Scan, Select, Union
from tests.explanation.questions import (
    AVERAGE,
    COUNT,
    DEVIATION,
    MEDIAN,
    SUM,
    UNITS,
    UNKNOWN,
    VISITS,
    make_a_plan,
    make_public_plan,
)

SQL = "SELECT region,\n  SUM(1) FROM visits"


def make_small() -> Explanation:
    return explain_plan(make_a_plan(COUNT, AVERAGE), [SQL], 0.95, question="SELECT ...")


def make_by_hand() -> Explanation:
    count = ExplainedColumn(
        name="visits",
        statistic="COUNT(*)",
        spread_text="±82",
        epsilon_share=Fraction(1, 2),
        noise="Laplace, scale 20 rows",
        why="Laplace noise: the budget has no delta.",
    )
    mean = replace(
        count,
        name="age",
        statistic="AVG(age)",
        spread_text="±7 200/n: ±7.2 at n = 1 000, ±0.72 at 10 000",
        shares_with="visits",
    )
    return Explanation(
        question="SELECT ...",
        price=Price(epsilon=Fraction(1, 2)),
        confidence=Fraction(95, 100),
        neighbours=ADD_REMOVE,
        unit="patient_id",
        columns=(count, mean),
        bounding=("At most 10 rows of each patient_id count.",),
        keys=("4 groups, each answered also without rows.",),
        left_out=("Rows of visits whose patient_id is NULL.",),
        afterwards="SELECT region, a0 AS visits FROM released_0",
        sqls=(SQL,),
    )


def test_an_explanation_reads_from_price_to_program() -> None:
    assert str(make_by_hand()).splitlines() == [
        "would cost ε = 0.5",
        "protects one patient_id more or less (add-remove neighbours)",
        "",
        "column   statistic   ± 95 %                                         ε",
        "visits   COUNT(*)    ±82                                            0.5",
        "age      AVG(age)    ±7 200/n: ±7.2 at n = 1 000, ±0.72 at 10 000   with visits",
        "",
        "column   noise",
        "visits   Laplace, scale 20 rows",
        "age      Laplace, scale 20 rows",
        "",
        "why this noise",
        "  Laplace noise: the budget has no delta.",
        "how units are bounded",
        "  At most 10 rows of each patient_id count.",
        "which groups are answered",
        "  4 groups, each answered also without rows.",
        "what is left out",
        "  Rows of visits whose patient_id is NULL.",
        "what the engine runs, before noise",
        "  SELECT region,",
        "    SUM(1) FROM visits",
        "what is computed afterwards, free of charge",
        "  SELECT region, a0 AS visits FROM released_0",
    ]


def test_long_sentences_are_wrapped_below_themselves() -> None:
    lines = make_by_hand().to_text(width=40).splitlines()
    place = lines.index("how units are bounded")
    assert lines[place + 1 : place + 3] == ["  At most 10 rows of each patient_id", "    count."]


def test_a_plan_is_explained_in_full() -> None:
    told = make_small()
    assert [each.name for each in told.columns] == ["c0", "c1"]
    assert told.columns[1].shares_with == "c0"
    assert told.columns[0].noise == "Laplace, scale 20 rows"
    assert "COUNT(*) and AVG(age) are read off the same noisy numbers" in told.columns[0].why
    assert told.bounding[0].startswith("At most 10 rows of visits for each unit, the default")
    assert told.keys[0].startswith("4 groups")
    assert told.left_out[0] == "Rows of visits whose patient_id is NULL: they belong to no unit."


def test_shares_add_up_to_the_price() -> None:
    plan = make_a_plan(COUNT, AVERAGE, DEVIATION, MEDIAN, UNITS, keys=UNKNOWN)
    explained = explain_plan(plan, [], 0.95)
    own = [each.epsilon_share for each in explained.columns if not each.shares_with]
    assert sum(own) == explained.price.epsilon == Fraction(1, 2)


def test_spreads_have_the_form_of_their_statistic() -> None:
    explained = explain_plan(make_a_plan(SUM, DEVIATION, MEDIAN), [], 0.95)
    total, deviation, median = (each.spread_text for each in explained.columns)
    assert total.startswith("±")
    assert "/√n: " in deviation
    assert median.startswith("rank ±")


@pytest.mark.parametrize(("asked", "of"), [((COUNT,), "rows"), ((COUNT, SUM), "units")])
def test_unknown_groups_tell_their_threshold_and_who_is_seen(
    asked: tuple[Aggregate, ...], of: str
) -> None:
    plan = make_a_plan(*asked, keys=UNKNOWN)
    selection = plan.releases[0].selection
    assert selection is not None
    (told,) = explain_plan(plan, [], 0.95).keys
    assert f"more than {selection.mechanism.threshold}:" in told
    half, most = (number_text(selection.mechanism.smallest_seen(share)) for share in (0.5, 0.99))
    assert f"takes {half} {of} to be seen with a chance of 50 %, {most} with 99 %" in told
    assert explain_plan(plan, [], 0.95).columns[0].statistic == f"{of} of each group"
    clear = number_text(selection.mechanism.clear(0.95))
    assert (f"Numbers up to {clear} may be shown because" in told) == (of == "rows")


@pytest.mark.parametrize(
    ("neighbours", "told"),
    [
        (ADD_REMOVE, "one patient_id more or less (add-remove neighbours)"),
        (REPLACE, "the data of one patient_id (replace neighbours: the number of them is public)"),
    ],
)
def test_every_explanation_states_its_neighbours(neighbours: object, told: str) -> None:
    plan = make_a_plan(COUNT, neighbours=neighbours)  # type: ignore[arg-type]
    explained = explain_plan(plan, [], 0.95)
    assert explained.protects == told
    assert told in str(explained)
    assert told in explained._repr_html_()
    assert json.loads(explained.to_json())["neighbours"] == plan.releases[0].neighbours.value


def test_public_tables_cost_nothing_and_protect_nobody() -> None:
    explained = explain_plan(make_public_plan(), [], 0.95)
    assert str(explained).splitlines()[:2] == [
        "would cost nothing",
        "protects nobody: only public tables are read",
    ]


def test_what_is_left_is_told_when_it_is_known() -> None:
    left = Balance(epsilon=Fraction(2), total_epsilon=Fraction(3))
    explained = explain_plan(make_a_plan(COUNT), [], 0.95, remaining=left)
    assert str(explained).splitlines()[0] == "would cost ε = 0.5 · left ε = 2 of 3"


def test_json_has_numbers_and_exact_fractions() -> None:
    told = json.loads(make_small().to_json())
    assert told["price"] == {
        "epsilon": 0.5,
        "epsilon_exact": "1/2",
        "delta": 0.0,
        "delta_exact": "0",
    }
    assert told["columns"][1]["shares_with"] == "c0"
    assert told["sql"] == [SQL]


def test_an_answer_can_say_what_was_left_out() -> None:
    assert notes_of(make_a_plan(AVERAGE)) == (
        "Left out: rows of visits whose patient_id is NULL: they belong to no unit.",
        "Values of age outside 0 to 120 count as the nearer end.",
    )


def test_units_are_found_below_anything_that_is_made_of_rows() -> None:
    scan = Scan(table=VISITS)
    select = Select(source=scan, name="v", columns=())
    assert unit_of(Union(parts=(select, scan))) == "patient_id"


@pytest.mark.parametrize(
    ("expected", "is_whole", "text"),
    [
        (40.2, True, "±41"),
        (0.412, False, "±0.42"),
        (MarginPerCount(numerator=4300.0), False, "±4 300/n: ±4.3 at n = 1 000, ±0.43 at 10 000"),
        (RankMargin(rows=36.2), False, "rank ±37 rows"),
        (None, False, "no error bar"),
    ],
)
def test_spreads_in_words(expected: ExpectedMargin, is_whole: bool, text: str) -> None:
    assert spread_text(expected, is_whole=is_whole) == text


def test_words_become_sentences_and_lists() -> None:
    assert sentence("each row is a unit") == "Each row is a unit."
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_names_and_programs_cannot_fake_lines_or_tags() -> None:
    attack = "<script>alert(1)</script>\nwould cost nothing\x1b[2J"
    explained = Explanation(
        question=attack,
        price=Price(epsilon=Fraction(1)),
        confidence=Fraction(95, 100),
        neighbours=ADD_REMOVE,
        unit=attack,
        columns=(
            ExplainedColumn(
                name=attack,
                statistic=attack,
                spread_text="±1",
                epsilon_share=Fraction(1),
                noise="Laplace",
                why=attack,
            ),
        ),
        bounding=(attack,),
        sqls=(attack,),
        afterwards=attack,
    )
    assert not any(line.startswith("would cost nothing") for line in str(explained).splitlines())
    assert "\x1b" not in str(explained) + explained._repr_html_()
    assert "<script" not in explained._repr_html_()
