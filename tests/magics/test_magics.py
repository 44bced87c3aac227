"""The magics in a real IPython: what they bind, show, reject and complete."""

import atexit
import gc
import signal
import weakref
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import discreet
from discreet.answer import Answer
from discreet.curator import Curator
from discreet.errors import DiscreetError, LedgerError
from discreet.explanation import Explanation
from tests.server.running import Served, serving, write_catalog

REGIONS = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
COUNT = "SELECT COUNT(*) AS n FROM visits"


class Notebook:
    """Runs cells in a shell, and notes what it shows."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.shown: list[object] = []
        self.shell.display_pub.publish = lambda data, *_, **__: self.shown.append(data)
        self.variables: dict[str, Any] = self.shell.user_ns
        self.shell.display_formatter.active_types = self.shell.display_formatter.format_types
        self.run("%reload_ext discreet")

    def run(self, cell: str) -> Any:
        """Return what a cell gives; raise what it raises."""
        ended = self.shell.run_cell(cell)
        if not ended.success:
            raise ended.error_in_exec or ended.error_before_exec
        return ended.result

    def rejected(self, cell: str) -> str:
        """Return the sentence of a cell that the user wrote wrongly."""
        with pytest.raises(UsageError) as found:
            self.run(cell)
        return str(found.value)

    def completed(self, text: str) -> list[str]:
        """Return how a cell looks after each of the completions at its end."""
        with provisionalcompleter():
            found = list(self.shell.Completer.completions(text, len(text)))
        return [text[: each.start] + each.text + text[each.end :] for each in found]


@pytest.fixture
def curator() -> Iterator[Curator]:
    visits = pa.table(
        {
            "who": list(range(400)),
            "region": ["north", "south"] * 200,
            "city": [f"city {n}" for n in range(400)],
            "age": [n % 100 for n in range(400)],
        }
    )
    with discreet.open(
        {"visits": visits, "clinics": pa.table({"town": ["Rome", "Oslo"]})},
        unit={"visits": "who"},
        bounds={"visits.age": (0, 100)},
        values={"visits.region": ["north", "south"]},
        public=["clinics"],
        epsilon=100,
        delta=1e-6,
        analysts={"ann": 1},
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Run IPython in this process; what it replaces of the interpreter is put back."""
    config = Config()
    config.HistoryManager.enabled = False
    make: Any = InteractiveShell
    made = make(config=config, ipython_dir=str(tmp_path_factory.mktemp("ipython")))
    made.restore_sys_module_state()
    yield made
    atexit.unregister(made.atexit_operations)
    made.atexit_operations()


@pytest.fixture
def notebook(shell: Any, curator: Curator) -> Iterator[Notebook]:
    before = dict(shell.user_ns)
    opened = Notebook(shell)
    opened.variables["clinic"] = curator
    yield opened
    shell.user_ns.clear()
    shell.user_ns.update(before)


# --------------------------------------------------------------------------- asking


def test_a_cell_shows_its_answer_and_stores_it_under_its_name(
    notebook: Notebook, curator: Curator
) -> None:
    shown = notebook.run(f"%%ask --epsilon 0.5 regions\n{REGIONS};")
    assert isinstance(shown, Answer)
    assert notebook.variables["regions"] is shown
    assert shown.price.epsilon == Fraction(1, 2)
    assert "±" in shown._repr_html_()
    assert curator.remaining.epsilon == Fraction(199, 2)


def test_the_name_may_come_before_the_options(notebook: Notebook) -> None:
    notebook.run(f"%%ask n --epsilon 1 --confidence 0.9\n{COUNT}")
    assert notebook.variables["n"].confidence == Fraction(9, 10)


def test_a_line_gives_its_answer_to_a_variable(notebook: Notebook) -> None:
    notebook.run(f"n = %ask --epsilon 1 {COUNT} WHERE region = 'north'")
    assert notebook.variables["n"].question.endswith("region = 'north'")


def test_options_are_those_of_the_command_line(notebook: Notebook) -> None:
    answer = notebook.run(
        f"%%ask -w 5 --epsilon=50 --dialect postgres\n{COUNT} WHERE age::text='7'"
    )
    assert answer.margins["n"] == [5]
    two = notebook.run(f"%ask -w n=5 {COUNT}")
    assert two.margins["n"] == [5]
    answer = notebook.run(
        "%%ask -e 20 --groups-per-unit 1 --row-choice per-query --delta 1e-7 --yes\n"
        "SELECT city, COUNT(DISTINCT who) AS n FROM visits GROUP BY city"
    )
    assert answer.price.delta == Fraction(1, 10**7)


def test_quiet_shows_nothing(notebook: Notebook) -> None:
    assert notebook.run(f"%%ask --quiet --epsilon 1 n\n{COUNT}") is None
    assert isinstance(notebook.variables["n"], Answer)
    assert notebook.rejected(f"%%ask --quiet --epsilon 1\n{COUNT}") == (
        "--quiet needs a name for the result: %%ask --quiet name."
    )


def test_explaining_is_free(notebook: Notebook, curator: Curator) -> None:
    shown = notebook.run(f"%%explain --within 5 preview\n{COUNT}")
    assert isinstance(shown, Explanation)
    assert notebook.variables["preview"] is shown
    assert isinstance(notebook.run(f"%explain --epsilon 1 {COUNT}"), Explanation)
    assert curator.remaining.epsilon == 100


def test_explaining_shows_the_generated_sql_on_request(notebook: Notebook) -> None:
    assert notebook.run(f"%explain --epsilon 1 --sql {COUNT}") is None
    assert "SELECT" in str(notebook.shown)
    shown = notebook.run(f"%explain --epsilon 1 --sql-for snowflake {COUNT}")
    assert "SELECT" in shown.to_text()


def test_the_budget_is_what_remains(notebook: Notebook, curator: Curator) -> None:
    notebook.run(f"%ask --epsilon 1 {COUNT}")
    assert notebook.run("%budget") == curator.remaining
    assert notebook.rejected("%budget clinic").startswith("%budget takes no options.")


# --------------------------------------------------------------------------- costs


def test_nothing_is_spent_without_a_stated_cost(notebook: Notebook, curator: Curator) -> None:
    for cell in (f"%%ask n\n{COUNT}", f"%ask {COUNT}", f"%%explain\n{COUNT}"):
        assert notebook.rejected(cell) == (
            "Give the amount to spend (--epsilon 0.5) or the margin of error you need "
            "(--within 20)."
        )
    assert curator.remaining.epsilon == 100
    assert len(notebook.run("%ask SELECT town FROM clinics")) == 2  # public tables need none


def test_an_answer_that_is_likely_to_be_empty_is_not_paid_for_by_accident(
    notebook: Notebook, curator: Curator
) -> None:
    notebook.run(f"%ask --epsilon 50 {COUNT}")  # tells how large the table is
    cell = "%%ask --epsilon 0.01 {}\nSELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    sentence = notebook.rejected(cell.format(""))
    assert sentence.endswith("Nothing was spent. To run it anyway, add --yes.")
    assert curator.remaining.epsilon == 50
    assert len(notebook.run(cell.format("--yes"))) == 0
    assert curator.remaining.epsilon < 50


def test_an_interrupted_query_is_one_sentence(notebook: Notebook) -> None:
    """The signal comes while the magic waits for somebody who does not answer."""

    class Slow(discreet.Curator):
        def __init__(self) -> None:
            """Be a curator without data."""

        def ask(self, *_: Any, **__: Any) -> Answer:
            signal.raise_signal(signal.SIGINT)
            raise AssertionError

    notebook.variables["clinic"] = Slow()
    sentence = notebook.rejected(f"%ask --epsilon 1 {COUNT}")
    assert sentence == "Stopped. If the query had already been charged, repeating it is free."


# --------------------------------------------------------------------------- variables


def test_placeholders_are_variables_of_the_notebook(notebook: Notebook) -> None:
    notebook.run("least = 30\nplaces = ['north', 'west']")
    answer = notebook.run(f"%%ask --epsilon 1\n{COUNT} WHERE age > :least AND region IN :places")
    assert "age > 30" in answer.question
    assert "'north', 'west'" in answer.question


def test_values_of_placeholders_may_be_given(notebook: Notebook) -> None:
    notebook.run("least = 30")
    for option in ("--parameter", "--parameters", "-P", "-p"):
        answer = notebook.run(f"%ask --epsilon 1 {option} least=40 {COUNT} WHERE age > :least")
        assert "age > 40" in answer.question
    answer = notebook.run(f'%%ask -e 1 -P "1=a b" -P 2=3\n{COUNT} WHERE city = ? AND age > ?')
    assert "'a b'" in answer.question
    assert "age > 3" in answer.question


def test_a_variable_is_a_value_and_never_sql(notebook: Notebook) -> None:
    notebook.run("place = \"north' OR 'a' = 'a\"")
    answer = notebook.run(f"%ask --epsilon 1 {COUNT} WHERE region = :place")
    assert "'north'' OR ''a'' = ''a'" in answer.question


def test_a_variable_that_is_missing_or_cannot_be_a_value_is_named(notebook: Notebook) -> None:
    assert notebook.rejected(f"%ask --epsilon 1 {COUNT} WHERE age > :least") == (
        "There is no variable least in this notebook for :least. Set it, or add "
        "--parameter least=30."
    )
    notebook.run("least = object()")
    with pytest.raises(DiscreetError, match="least"):
        notebook.run(f"%ask --epsilon 1 {COUNT} WHERE age > :least")


def test_values_of_options_may_be_variables(notebook: Notebook) -> None:
    notebook.run("price = 0.25")
    assert notebook.run(f"%ask --epsilon $price {COUNT}").price.epsilon == Fraction(1, 4)
    assert notebook.run(f"%ask --epsilon {{2 * price}} {COUNT}").price.epsilon == Fraction(1, 2)
    assert notebook.rejected(f"%ask --epsilon $nothing {COUNT}").startswith("'$nothing' is not a")


def test_the_query_itself_is_never_expanded(notebook: Notebook) -> None:
    notebook.run("region = 'age'")
    answer = notebook.run(f"%ask --epsilon 1 {COUNT} WHERE city = '$region {{region}}'")
    assert "'$region {region}'" in answer.question


# --------------------------------------------------------------------------- who is asked


def test_the_only_curator_of_a_notebook_is_asked(notebook: Notebook, curator: Curator) -> None:
    notebook.variables["again"] = curator  # another name of the same
    assert notebook.run("%discreet") is curator


def test_of_several_one_must_be_chosen(notebook: Notebook, curator: Curator) -> None:
    ann = notebook.variables["ann"] = curator.on_account("ann")
    assert notebook.rejected(f"%ask --epsilon 1 {COUNT}") == (
        "clinic and ann can be asked. Choose one: %discreet clinic"
    )
    assert curator.remaining.epsilon == 100
    assert notebook.run("%discreet ann") is ann
    notebook.run(f"%ask --epsilon 1 {COUNT}")
    assert curator.remaining_of("ann").epsilon == 0
    notebook.run("%discreet clinic")
    notebook.run(f"%ask --epsilon 2 {COUNT}")
    assert notebook.run("%budget").epsilon == 97


def test_an_expression_may_be_asked(notebook: Notebook) -> None:
    assert notebook.run("%discreet clinic.on_account('ann')").name == "ann"
    assert notebook.run("%budget").epsilon == 1


def test_only_variables_of_the_notebook_hold_the_data(notebook: Notebook) -> None:
    notebook.run("%discreet clinic.on_account('ann')")
    assert notebook.completed("%%ask\nSELECT reg") == ["%%ask\nSELECT region"]
    held = [weakref.ref(each) for each in (notebook.run("%discreet"),)]
    notebook.run("%discreet clinic")
    for name in [each for each in notebook.variables if each.startswith("_")]:
        notebook.shell.user_ns.pop(name)  # with what IPython keeps of results
    notebook.shell.displayhook.flush()
    gc.collect()
    assert [each() for each in held] == [None]


def test_a_name_is_looked_up_each_time(notebook: Notebook) -> None:
    notebook.run("%discreet clinic")
    notebook.run("clinic = clinic.on_account('ann')")
    assert notebook.run("%budget").epsilon == 1
    del notebook.variables["clinic"]
    assert notebook.rejected("%budget") == (
        'There is no variable clinic in this notebook. Open data first: clinic = discreet.open("'
        'discreet.toml").'
    )


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ("nobody", "There is no variable nobody in this notebook. Available: clinic."),
        ("word", "word cannot be asked. Use a result of discreet.open or discreet.connect."),
        ("word.nothing", "word.nothing fails with AttributeError: "),
        ("1 +", "1 + fails with SyntaxError: "),
        ("[1]", "[1] cannot be asked."),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    notebook: Notebook, chosen: str, sentence: str
) -> None:
    notebook.variables["word"] = "x"
    assert notebook.rejected(f"%discreet {chosen}").startswith(sentence)
    assert notebook.run("%discreet") is notebook.variables["clinic"]


def test_without_data_there_is_nothing_to_ask(notebook: Notebook) -> None:
    del notebook.variables["clinic"]
    assert notebook.rejected("%budget") == (
        'There is nothing to ask in this notebook. Open data first: clinic = discreet.open("'
        'discreet.toml").'
    )


def test_an_answer_does_not_replace_the_data(notebook: Notebook, curator: Curator) -> None:
    sentence = notebook.rejected(f"%%ask --epsilon 1 clinic\n{COUNT}")
    assert sentence.startswith("clinic is the data that are asked.")
    assert notebook.variables["clinic"] is curator
    assert curator.remaining.epsilon == 100


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (f"%%ask --epsilom 1\n{COUNT}", "There is no option --epsilom. Did you mean --epsilon?"),
        (f"%ask --ep 1 {COUNT}", "There is no option --ep. Did you mean --epsilon?"),
        (f"%ask --zz {COUNT}", "There is no option --zz. Use %ask? to list the options."),
        (f"%%explain --plot\n{COUNT}", "There is no option --plot."),
        (f"%%ask --epsilon\n{COUNT}", "--epsilon needs a value: --epsilon E."),
        (f"%%ask --plot=x\n{COUNT}", "--plot takes no value. Write --plot alone."),
        (f"%%ask --epsilon much\n{COUNT}", "'much' is not a number. Write one like 0.5 or 1/3."),
        (f"%%ask --epsilon 1 a b\n{COUNT}", "'a b' is not a name for the answer."),
        (f"%%ask --epsilon 1 2a\n{COUNT}", "'2a' is not a name for the answer."),
        (f"%%ask --epsilon 1 for\n{COUNT}", "'for' is not a name for the answer."),
        (f"%%ask --epsilon 1 get_ipython\n{COUNT}", "get_ipython is a name of IPython."),
        (f"%%ask --epsilon 1\\ a\n{COUNT}", "'1\\\\' is not a value."),
        (f"%%ask -e 1 {{x\n{COUNT}", "'{x' is not a name for the answer."),
        (f"%%ask -e 1 -P age\n{COUNT}", "Write each parameter once"),
        (f"%ask -e 1 -P age {COUNT}", "Write each parameter once"),
        (f"%ask -w a=1 -w 2 {COUNT}", "Give one margin for all columns"),
        ("%ask --epsilon 1", "Write a query after %ask and its options."),
        ("%%ask --epsilon 1\n \n", "Write a query after %ask and its options."),
    ],
)
def test_wrong_options_are_one_sentence_and_cost_nothing(
    notebook: Notebook, curator: Curator, cell: str, sentence: str
) -> None:
    found = notebook.rejected(cell)
    assert found.startswith(sentence)
    assert "\n" not in found
    assert curator.remaining.epsilon == 100


@pytest.mark.parametrize(
    "cell",
    [
        "%%ask --epsilon 1\nSELECT COUNT( FROM visits",
        "%%explain --epsilon 1\nSELECT * FROM visits",
        f"%ask --epsilon 1000 {COUNT}",
        f"%ask --epsilon -1 {COUNT}",
        f"%ask --epsilon 1 --confidence 0 {COUNT}",
        f"%ask --epsilon 1 --dialect oracle {COUNT}",
        f"%ask --epsilon 1 --row-choice never {COUNT}",
        f"%ask --epsilon 1 --groups-per-unit 1.5 {COUNT}",
    ],
)
def test_a_rejected_query_is_shown_without_a_traceback(
    notebook: Notebook, curator: Curator, cell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(DiscreetError) as found:
        notebook.run(cell)
    printed = "".join(capsys.readouterr())
    assert printed.strip() == f"{type(found.value).__name__}: {found.value}"
    assert curator.remaining.epsilon == 100


def test_a_usage_error_is_shown_without_a_traceback(
    notebook: Notebook, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = notebook.rejected("%discreet 1 / 0")
    assert "".join(capsys.readouterr()).strip() == f"UsageError: {sentence}"


def test_closed_data_say_so(notebook: Notebook, curator: Curator) -> None:
    curator.close()
    with pytest.raises(LedgerError, match="This ledger is closed"):
        notebook.run(f"%ask --epsilon 1 {COUNT}")


# --------------------------------------------------------------------------- charts


def test_a_chart_is_shown_before_the_table(notebook: Notebook) -> None:
    answer = notebook.run(f"%%ask --epsilon 1 --plot\n{REGIONS}")
    assert isinstance(answer, Answer)
    (chart,) = notebook.shown
    assert isinstance(chart, dict)
    assert chart["image/png"]


def test_an_answer_that_has_no_chart_is_not_lost(notebook: Notebook) -> None:
    answer = notebook.run("%%ask --plot towns\nSELECT town FROM clinics")
    assert notebook.variables["towns"] is answer
    assert notebook.shown == [
        {"text/plain": "No chart: an answer must have a column of numbers to be drawn."}
    ]


def test_a_terminal_that_shows_no_charts_says_so_before_it_spends(
    notebook: Notebook, curator: Curator
) -> None:
    notebook.shell.display_formatter.active_types = ["text/plain"]
    assert notebook.rejected(f"%%ask --epsilon 1 --plot\n{REGIONS}").startswith(
        "A chart cannot be shown here. Leave out --plot"
    )
    assert curator.remaining.epsilon == 100


# --------------------------------------------------------------------------- completion


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("%%ask --eps", ["%%ask --epsilon"]),
        ("%%ask --epsilon 1 --q", ["%%ask --epsilon 1 --quiet"]),
        ("%%ask --dialect p", ["%%ask --dialect postgres"]),
        ("%%explain --dialect=big", ["%%explain --dialect=bigquery"]),
        ("%%explain --sql-for s", ["%%explain --sql-for snowflake"]),
        ("%ask --wi", ["%ask --within"]),
        ("n = %ask --wi", ["n = %ask --within"]),
        ("%ask -e 1 SELECT COUNT(*) FROM vis", ["%ask -e 1 SELECT COUNT(*) FROM visits"]),
        ("%%ask -e 1 n\nSELECT reg", ["%%ask -e 1 n\nSELECT region"]),
        ("%%ask -e 1 n\nselect 1,\n  visits.ag", ["%%ask -e 1 n\nselect 1,\n  visits.age"]),
        ("%%explain\nSELE", ["%%explain\nSELECT"]),
        ("%%ask\nSELECT COUNT(*) FROM visits WHERE age > :lea", None),
        ("%discreet cli", ["%discreet clinic"]),
    ],
)
def test_options_tables_columns_words_and_variables_are_completed(
    notebook: Notebook, text: str, completed: list[str] | None
) -> None:
    notebook.run("least = 3")
    assert notebook.completed(text) == (completed or [text + "st"])


def test_python_is_completed_as_ever(notebook: Notebook) -> None:
    assert "clinic.catalog" in notebook.completed("clinic.cata")
    assert notebook.completed("x = 1\nSELE") == []


def test_words_of_sql_are_completed_without_data(notebook: Notebook, curator: Curator) -> None:
    notebook.variables["other"] = curator.on_account("ann")
    assert notebook.completed("%%ask\nSELE") == ["%%ask\nSELECT"]
    del notebook.variables["other"], notebook.variables["clinic"]
    assert notebook.completed("%%ask\nSELE") == ["%%ask\nSELECT"]


# --------------------------------------------------------------------------- servers, loading


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_catalog(tmp_path_factory.mktemp("clinic"))) as found:
        yield found


def test_a_server_is_asked_in_the_same_way(notebook: Notebook, served: Served) -> None:
    notebook.variables.update(clinic=served.connect(), least=30)
    answer = notebook.run(f"%%ask --epsilon 1 n\n{COUNT} WHERE age > :least")
    assert "age > 30" in answer.question
    notebook.run(f"%ask --epsilon 9 {COUNT}")
    assert notebook.run("%budget").epsilon == 40
    assert notebook.completed("%%ask\nSELECT reg") == ["%%ask\nSELECT region"]
    shown = notebook.run(f"%explain --groups-per-unit 1 --within 20 {COUNT}")
    assert isinstance(shown, Explanation)
    assert notebook.rejected(f"%ask {COUNT}").startswith("Give the amount to spend")
    assert notebook.rejected(
        "%ask --epsilon 0.01 SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    ).endswith("To run it anyway, add --yes.")
    with pytest.raises(DiscreetError, match="individual rows"):
        notebook.run("%ask --epsilon 1 SELECT * FROM visits")
    assert notebook.run("%budget").epsilon == 40
    notebook.variables["clinic"].close()
    with pytest.raises(DiscreetError, match=r"This client is closed\."):
        notebook.run(f"%ask --epsilon 1 {COUNT}")
    notebook.variables["clinic"] = closed = served.connect()
    closed.close()
    assert notebook.completed("%%ask\nSELE") == ["%%ask\nSELECT"]


def test_magics_are_taken_away_again(notebook: Notebook) -> None:
    notebook.run("%reload_ext discreet")
    assert len(notebook.shell.Completer.custom_matchers) == 1
    notebook.run("%unload_ext discreet")
    assert notebook.shell.Completer.custom_matchers == []
    assert "magic function `%budget` not found" in notebook.rejected("%budget")
    assert "magic `%%ask` not found" in notebook.rejected(f"%%ask\n{COUNT}")


def test_the_help_of_a_magic_lists_its_options(notebook: Notebook) -> None:
    for magic, option in (("ask", "--plot"), ("explain", "--sql-for NAME")):
        text = notebook.shell.find_line_magic(magic).__doc__
        assert option in text
        assert "--parameter, --parameters, -P, -p NAME=VALUE" in text
