"""Explanations: everything is said, before anything is paid, and nothing can lie."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.amounts import number_text
from discreet.answer import Balance, Price
from discreet.estimators import ExpectedMargin, MarginPerCount, RankMargin
from discreet.explanation import ExplainedColumn, Explanation
from discreet.explanation.from_plan import explain_plan
from discreet.explanation.notes import notes_of, unit_of
from discreet.explanation.sentences import UnitName, listed, margin_text, sentence
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE
from discreet.query.questions import Aggregate
from discreet.query.tree import Scan, Select, UnionAll
from tests.curated import curator_of
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
        margin_text="±82",
        epsilon_share=Fraction(1, 2),
        noise="Laplace noise, scale 20 rows",
        why="Gaussian noise would need a δ.",
    )
    mean = replace(
        count,
        name="age",
        statistic="AVG(age)",
        margin_text="±7,200/n (±7.2 at n = 1,000; ±0.72 at 10,000)",
        shares_with="visits",
        is_per_row=True,
    )
    return Explanation(
        question="SELECT ...",
        price=Price(epsilon=Fraction(1, 2)),
        confidence=Fraction(95, 100),
        neighbours=ADD_REMOVE,
        unit="patient_id",
        columns=(count, mean),
        bounding=("At most 10 rows per patient_id are used.",),
        keys=("All 4 declared values of region are shown.",),
        left_out=("Rows of visits where patient_id is NULL.",),
        afterwards="SELECT region, a0 AS visits FROM released_0",
        sqls=(SQL,),
    )


def test_an_explanation_reads_from_cost_to_noise() -> None:
    assert str(make_by_hand()).splitlines() == [
        "Preview only: nothing was spent and no query was run.",
        "",
        "Cost        ε = 0.5",
        "Protects    each patient_id with all its rows (add-remove neighbours)",
        "",
        "column   expression   margin of error (95%)                           cost",
        "visits   COUNT(*)     ±82                                             ε = 0.5",
        "age      AVG(age)     ±7,200/n (±7.2 at n = 1,000; ±0.72 at 10,000)   shared with visits",
        "n is the number of rows in a group whose value is not NULL.",
        "",
        "Contribution limit",
        "  At most 10 rows per patient_id are used.",
        "",
        "Groups",
        "  All 4 declared values of region are shown.",
        "",
        "Left out or changed",
        "  Rows of visits where patient_id is NULL.",
        "",
        "Noise",
        "  visits, age: Laplace noise, scale 20 rows. Gaussian noise would need a δ.",
        "",
        "To see the generated SQL, add --sql, or call to_text(sql=True) in Python.",
    ]


def test_the_generated_sql_is_shown_on_request() -> None:
    assert make_by_hand().to_text(sql=True).splitlines()[-6:] == [
        "Generated SQL (gives exact results, which get noise)",
        "  SELECT region,",
        "    SUM(1) FROM visits",
        "",
        "Post-processing (on noisy results; costs nothing)",
        "  SELECT region, a0 AS visits FROM released_0",
    ]


def test_the_generated_sql_is_shown_where_a_dialect_was_asked_for() -> None:
    asked = replace(make_by_hand(), shows_sql=True)
    assert str(asked) == asked.to_text() == make_by_hand().to_text(sql=True)
    assert asked.to_text(sql=False) == str(make_by_hand())


def test_long_sentences_are_wrapped_below_themselves() -> None:
    lines = make_by_hand().to_text(width=40).splitlines()
    place = lines.index("Contribution limit")
    assert lines[place + 1 : place + 3] == ["  At most 10 rows per patient_id are", "  used."]


def test_a_plan_is_explained_in_full() -> None:
    told = make_small()
    assert [each.name for each in told.columns] == ["c0", "c1"]
    assert told.columns[1].shares_with == "c0"
    assert told.columns[1].cost_text == "shared with c0"
    assert told.columns[0].noise == "Laplace noise, scale 20 rows"
    assert told.columns[0].why.startswith("With Gaussian noise, margins of error would be ")
    assert told.bounding == (
        "Counts at most 10 rows of each patient_id (the default; set rows_per_unit to change it), "
        "so counts and sums can be too low · To see how many rows: discreet coverage visits, or "
        'curator.coverage("visits")',
    )
    assert told.keys == ("All 4 declared values of region are shown, even those with no rows.",)
    assert told.left_out[0] == "Rows of visits where patient_id is NULL."


def test_columns_have_the_order_of_the_query() -> None:
    plan = make_a_plan(COUNT, AVERAGE)
    turned = replace(
        plan.question,
        columns=tuple(reversed(plan.question.columns)),
        sources=tuple(reversed(plan.question.sources)),
    )
    explained = explain_plan(replace(plan, question=turned), [], 0.95)
    assert [each.name for each in explained.columns] == ["c1", "c0"]
    assert explained.columns[1].shares_with == "c1"


def test_shares_add_up_to_the_price() -> None:
    plan = make_a_plan(COUNT, AVERAGE, DEVIATION, MEDIAN, UNITS, keys=UNKNOWN)
    explained = explain_plan(plan, [], 0.95)
    own = [each.epsilon_share for each in explained.columns if not each.shares_with]
    assert sum(own) == explained.price.epsilon == Fraction(1, 2)


def test_spreads_have_the_form_of_their_statistic() -> None:
    explained = explain_plan(make_a_plan(SUM, DEVIATION, MEDIAN), [], 0.95)
    total, deviation, median = (each.margin_text for each in explained.columns)
    assert total.startswith("±")
    assert "/√n (" in deviation
    assert median.endswith(" rows of the median's rank")


@pytest.mark.parametrize(
    ("asked", "of"),
    [((COUNT,), "rows"), ((COUNT, SUM), "rows"), ((SUM,), "patient_id values")],
)
def test_unknown_groups_tell_their_threshold_and_who_is_seen(
    asked: tuple[Aggregate, ...], of: str
) -> None:
    plan = make_a_plan(*asked, keys=UNKNOWN)
    selection = plan.releases[0].key_selection
    assert selection is not None
    (told,) = explain_plan(plan, [], 0.95).keys
    assert f"above the group threshold, {number_text(selection.mechanism.threshold)}." in told
    half, most = (number_text(selection.mechanism.smallest_seen(share)) for share in (0.5, 0.99))
    assert f"A group with {half} {of} is shown with at least 50% probability" in told
    assert f"one with {most} {of}, with at least 99%." in told
    assert explain_plan(plan, [], 0.95).columns[0].statistic == f"number of {of} per group"
    clear = number_text(selection.mechanism.clear(0.95))
    near = "Counts" if asked == (COUNT,) else "Groups with a noisy count of"
    assert (f"{near} up to {clear} may be shown only because" in told) == (of == "rows")


@pytest.mark.parametrize(
    ("neighbours", "told"),
    [
        (ADD_REMOVE, "each patient_id with all its rows (add-remove neighbours)"),
        (REPLACE, "the data of each patient_id (replace neighbours: the number of them is public)"),
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
    assert str(explained).splitlines()[2:4] == [
        "Cost        nothing",
        "Protects    nobody, because no private data are read",
    ]


def test_what_is_left_is_told_when_it_is_known() -> None:
    left = Balance(epsilon=Fraction(2), total_epsilon=Fraction(3))
    explained = explain_plan(make_a_plan(COUNT), [], 0.95, remaining=left)
    assert str(explained).splitlines()[2:4] == ["Cost        ε = 0.5", "Remaining   ε = 2 of 3"]


@pytest.mark.parametrize(
    ("due", "told"),
    [
        (Fraction(0), "nothing: this is the saved answer to this query (it cost ε = 0.5)"),
        (Fraction(1, 4), "ε = 0.25, because the rest of ε = 0.5 was spent before"),
        (Fraction(1, 2), "ε = 0.5"),
    ],
)
def test_what_was_spent_before_is_not_in_the_cost(due: Fraction, told: str) -> None:
    explained = explain_plan(make_a_plan(COUNT), [], 0.95, due=Price(epsilon=due))
    assert str(explained).splitlines()[2] == f"Cost        {told}"


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
    notes = notes_of(make_a_plan(AVERAGE, SUM, MEDIAN), 0.95)
    assert notes[:3] == (
        "Counts at most 10 rows of each patient_id (the default; set rows_per_unit to change it), "
        "so counts and sums can be too low · To see how many rows: discreet coverage visits, or "
        'curator.coverage("visits")',
        "Also left out: rows where patient_id is NULL.",
        "Clamped: age to the range 0 to 120.",
    )
    assert notes[3].startswith("MEDIAN(age): with 95% confidence, the value shown is within ")
    assert notes[3].endswith(" rows of the median's rank, in sorted order.")
    assert all(each.is_printed for each in notes)


def test_the_note_on_the_limit_names_a_figure_that_the_answer_has() -> None:
    (limit, *_, rank) = notes_of(make_a_plan(MEDIAN), 0.95)
    assert "so results can differ from those of all rows · To see how many rows" in limit
    assert "with 95% confidence" in rank
    assert "±" not in limit + rank


def test_units_are_found_below_anything_that_is_made_of_rows() -> None:
    scan = Scan(table=VISITS)
    select = Select(source=scan, name="v", columns=())
    assert unit_of(UnionAll(parts=(select, scan))) == UnitName(name="patient_id")


@pytest.mark.parametrize(
    ("expected", "is_integer", "text"),
    [
        (40.2, True, "±41"),
        (0.412, False, "±0.42"),
        (MarginPerCount(numerator=4300.0), False, "±4,300/n (±4.3 at n = 1,000; ±0.43 at 10,000)"),
        (RankMargin(rows=36.2), False, "within 37 rows of the requested rank"),
        (None, False, "no margin of error"),
    ],
)
def test_margins_in_words(expected: ExpectedMargin, is_integer: bool, text: str) -> None:
    assert margin_text(expected, is_integer=is_integer) == text


def test_words_become_sentences_and_lists() -> None:
    assert sentence("each row is a unit") == "Each row is a unit."
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_names_and_programs_cannot_fake_lines_or_tags() -> None:
    attack = "<script>alert(1)</script>\nCost        nothing\x1b[2J"
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
                margin_text="±1",
                epsilon_share=Fraction(1),
                noise="Laplace",
                why=attack,
            ),
        ),
        bounding=(attack,),
        sqls=(attack,),
        afterwards=attack,
    )
    assert not any(line.startswith("Cost        nothing") for line in str(explained).splitlines())
    assert "\x1b" not in str(explained) + explained._repr_html_()
    assert "<script" not in explained._repr_html_()


def test_margins_that_come_with_the_answer_are_named() -> None:
    with curator_of({"age": [1, 2, 3]}, bounds={"age": (0, 100)}) as curator:
        sql = (
            "SELECT age, COUNT(*) AS n, n - LAG(n) OVER (ORDER BY age) AS change,"
            " n / SUM(n) OVER () AS share FROM visits GROUP BY age"
        )
        explanation = curator.explain(sql, epsilon=1)
        plain = curator.explain("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    sentence = "change and share are computed from noisy numbers."
    assert sentence in explanation.to_text()
    assert sentence in explanation._repr_html_()
    assert json.loads(explanation.to_json())["later"].startswith(sentence)
    assert plain.later == ""
