"""Each form of SQL is answered as plain SQL answers it, on every engine, or rejected by name.

Mechanisms are silenced, so that an answer is what it would be at an ε without end.
"""

import re
from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest

from discreet import errors
from discreet.curator import Curator
from tests.attacks.watched import Watched, watch
from tests.forms.corpus import ANSWERED, FORMS, REFUSED, Answered, Refused
from tests.forms.held import HELD, PEOPLE, ask_plainly, differences, held, rows_of
from tests.properties.clinic import clinic
from tests.properties.comparison import plain_database
from tests.properties.silence import silence

LEAST = 10
"""Questions of each form that are answered."""


@pytest.fixture(scope="module", params=HELD)
def curator(request: pytest.FixtureRequest) -> Iterator[Curator]:
    with held(request.param) as curator:
        yield curator


@pytest.fixture(scope="module")
def plainly() -> Iterator[duckdb.DuckDBPyConnection]:
    with plain_database(clinic(PEOPLE)) as database:
        yield database


@pytest.mark.parametrize("question", ANSWERED, ids=str)
def test_a_question_is_answered_as_plain_sql_answers_it(
    curator: Curator, plainly: duckdb.DuckDBPyConnection, question: Answered
) -> None:
    with silence():
        ours = rows_of(curator, question.sql, **question.how)
    assert differences(ours, ask_plainly(plainly, question.plain)) == []


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Curator, Watched]]:
    with held("prepared") as curator:
        yield curator, watch(curator)


@pytest.mark.parametrize("question", REFUSED, ids=str)
def test_a_question_is_rejected_by_name_before_any_data_is_read(
    watched: tuple[Curator, Watched], question: Refused
) -> None:
    curator, engine = watched
    before, runs = curator.remaining, engine.runs
    with pytest.raises(getattr(errors, question.error)) as found:
        curator.ask(question.sql, epsilon=1, **question.how)
    assert type(found.value).__name__ == question.error
    assert re.search(re.escape(question.says), str(found.value)), str(found.value)
    assert (engine.runs, curator.remaining) == (runs, before)


def test_each_form_has_questions_that_are_answered_and_questions_that_are_not() -> None:
    answered, refused = Counter(each.form for each in ANSWERED), {each.form for each in REFUSED}
    forms = {path.stem for path in FORMS.glob("*.toml")}
    assert {form: answered[form] for form in forms if answered[form] < LEAST} == {}
    assert forms <= refused
    assert len({each.sql for each in ANSWERED}) == len(ANSWERED)
