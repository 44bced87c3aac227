"""The tour: a made-up group of clinics is asked in SQL, until it is clear what is refused."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from textwrap import fill

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from discreet.answer import Answer, Price
from discreet.cli.given import Terms
from discreet.cli.screen import WIDTH, answers, coloured, printable, waiting, width_of
from discreet.curator import Curator
from discreet.demo.clinic import CATALOG, write_clinic
from discreet.errors import CatalogError, QuestionError
from discreet.opening import ledger_place, open_catalog

LEFT = 2
"""Columns that questions and answers stand apart from the margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A question of the tour, with what there is to see at its answer."""

    title: str
    sql: str
    terms: Terms
    remark: str

    @property
    def price(self) -> str:
        """The terms as one writes them in Python."""
        if self.terms.within is None:
            return f"epsilon={float(self.terms.epsilon or 0):g}"
        return f"within={self.terms.within}"


REGIONS = Stop(
    title="Counts and averages",
    sql="""SELECT region, COUNT(*) AS visits, AVG(age) AS age
FROM visits GROUP BY region""",
    terms=Terms(epsilon=Fraction(1, 2)),
    remark="Noise moves 95 of 100 such numbers by no more than ±. Four regions cost as much as "
    "one, and an average is read off the same noisy numbers as its count.",
)

WEEKS = Stop(
    title="A year, week by week",
    sql="""SELECT date_trunc('week', day) AS week, COUNT(*) AS visits
FROM visits GROUP BY week
HAVING week < DATE '2024-12-30' ORDER BY week""",
    terms=Terms(epsilon=Fraction(1, 2)),
    remark="The catalog says that the days are those of 2024, so every week is answered; fifty-two "
    "cost as much as one.",
)

DIAGNOSES = Stop(
    title="Groups that nobody has listed",
    sql="""SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients
FROM visits GROUP BY diagnosis ORDER BY patients DESC""",
    terms=Terms(epsilon=Fraction(1, 2)),
    remark="Here the names themselves are secrets. Those that few patients have do not appear, but "
    "for a chance of δ: there are some, and no question will tell which.",
)

ELDERLY = Stop(
    title="Accuracy first",
    sql="SELECT COUNT(DISTINCT patient_id) AS elderly FROM visits WHERE age >= 65",
    terms=Terms(within=Fraction(25)),
    remark="Say how good the answer must be, and the least price for that is found and paid.",
)

KINDS = Stop(
    title="A public table, and SQL on top of noisy numbers",
    sql="""WITH by_kind AS (
  SELECT c.kind, SUM(v.cost) AS cost, COUNT(*) AS visits
  FROM visits AS v JOIN clinics AS c ON v.clinic_id = c.clinic_id GROUP BY c.kind)
SELECT kind, cost, ROUND(cost / visits, 2) AS per_visit,
       RANK() OVER (ORDER BY cost DESC) AS place
FROM by_kind ORDER BY place""",
    terms=Terms(epsilon=Fraction(1, 2)),
    remark="Whatever is computed of what was released is free, and any SQL will do.",
)

NOSY = "SELECT patient_id, diagnosis FROM visits WHERE age > 95"


NEXT = (
    ("discreet ask 'SELECT COUNT(*) FROM patients' --within 50", "pays the least for ±50"),
    ("discreet explain 'SELECT MAX(cost) FROM visits' --epsilon 0.1", "costs nothing"),
    ("discreet budget", "what was asked, what is left"),
    ("discreet shell", "with history and completion"),
    ("discreet init visits.csv --output my.toml", "how a catalog begins"),
)
"""Commands to go on with in the tour's folder, and what they are for."""


def show_tour(output: Path) -> None:
    """Write the made-up clinics, ask them, and say how to go on with the same files."""
    console = answers()
    with waiting("making up a group of clinics"):
        catalog = make_anew(output)
        curator = open_catalog(catalog)
    with curator:
        _welcome(console, curator, output)
        for number, stop in enumerate((REGIONS, WEEKS, DIAGNOSES, ELDERLY, KINDS), start=1):
            answer = _visit(console, curator, stop, number)
            if stop is WEEKS:
                _say(console, f"Picture: {answer.plot('visits').save(output / 'weeks.png')}")
        _refuse(console, curator)
        _repeat(console, curator)
        _explain(console, curator)
    _farewell(console, catalog)


def make_anew(output: Path) -> Path:
    """Return the catalog of the made-up clinics with a new ledger; nobody else's is touched."""
    catalog = output / "discreet.toml"
    if catalog.exists() and catalog.read_bytes() != CATALOG.encode():
        raise CatalogError(
            "this catalog is not the tour's own", "name another folder with --output",
            file=str(catalog),
        )  # fmt: skip
    if not catalog.exists() and catalog.with_suffix(".ledger").exists():
        raise CatalogError(
            "there is a ledger that is not the tour's", "name another folder with --output",
            file=str(catalog.with_suffix(".ledger")),
        )  # fmt: skip
    written = write_clinic(output)
    # Nobody is in these data, so that their budget may begin anew with each tour.
    place = Path(ledger_place(written))
    for each in (place, *(Path(f"{place}{end}") for end in ("-wal", "-shm"))):
        each.unlink(missing_ok=True)
    return written


def _welcome(console: Console, curator: Curator, output: Path) -> None:
    _say(
        console,
        f"A made-up group of clinics: 100 000 visits of 20 000 patients, in {output}/. What is "
        f"declared about them stands in discreet.toml: each patient is protected with all of "
        f"their visits, of which 15 count at most, for {_total(curator)} in all.",
    )


def _total(curator: Curator) -> str:
    policy = curator.catalog.budget
    price = Price(epsilon=policy.epsilon, delta=policy.delta)
    return str(price).replace(" ", "\u00a0")


def _visit(console: Console, curator: Curator, stop: Stop, number: int) -> Answer:
    _title(console, f"{number} · {stop.title}")
    _show_question(console, f"ask({stop.price})", stop.sql)
    with waiting("asking"):
        answer = curator.ask(stop.sql, epsilon=stop.terms.epsilon, within=stop.terms.within)
    _show(console, "\n".join(_short(answer.to_text(width=WIDTH - LEFT))))
    _say(console, stop.remark)
    return answer


def _short(text: str, most: int = 26) -> Iterator[str]:
    """Yield an answer's lines; of a long table, its beginning and its end."""
    lines = text.splitlines()
    if len(lines) <= most:
        yield from lines
        return
    yield from lines[:6]
    yield "…"
    yield from lines[-8:]


def _refuse(console: Console, curator: Curator) -> None:
    _title(console, "6 · A question too many")
    _show_question(console, "ask(epsilon=0.5)", NOSY)
    try:
        curator.ask(NOSY, epsilon=Fraction(1, 2))
    except QuestionError as refusal:
        sentence, *lines = f"refused: {refusal}".splitlines()
        _show(console, "\n".join([fill(sentence, WIDTH - LEFT), *lines]), style="red")
    _say(
        console,
        "It was refused from its words and the catalog alone: nothing was read, nothing was paid.",
    )


def _repeat(console: Console, curator: Curator) -> None:
    _title(console, "7 · The same question again")
    spelled = "select region, count(*) visits, avg(AGE) age from visits group by 1"
    _show_question(console, f"ask({REGIONS.price})", spelled)
    answer = curator.ask(spelled, epsilon=REGIONS.terms.epsilon)
    _show(console, answer.to_text(width=WIDTH - LEFT))
    _say(console, "The answer was kept. Asking often does not wear the noise off.")


def _explain(console: Console, curator: Curator) -> None:
    sql = "SELECT sex, MEDIAN(born) AS born, COUNT(*) AS patients FROM patients GROUP BY sex"
    _title(console, "8 · Look before you pay")
    _show_question(console, "explain(epsilon=0.2)", sql)
    told = curator.explain(sql, epsilon=Fraction(1, 5)).to_text(width=WIDTH - LEFT)
    _show(console, told)


def _farewell(console: Console, catalog: Path) -> None:
    place = catalog.parent
    _title(console, "Now you")
    for command, why in NEXT:
        line = Text("  ")
        line.append(f"{command:<66}", style="bold").append(why, style="dim")
        console.print(line)
    console.print(Text(printable(f"  (in {place}: cd {place})"), style="dim"))


def _title(console: Console, title: str) -> None:
    console.print()
    console.print(Rule(Text(title, style="bold"), align="left", style="dim"), width=WIDTH)


def _show_question(console: Console, call: str, sql: str) -> None:
    console.print(Text(f"  {call}", style="dim"))
    code = Syntax(sql, "sql", theme="ansi_dark", background_color="default").highlight(sql)
    code.rstrip()
    console.print(_moved(code, 2 * LEFT), end="\n\n")


def _show(console: Console, text: str, style: str = "") -> None:
    shown = coloured(text)
    shown.stylize(style)
    console.print(_moved(shown, LEFT))


def _moved(text: Text, columns: int) -> Text:
    """Return the text, each of its lines so far from the margin."""
    return Text("\n").join(Text(" " * columns) + line for line in text.split("\n"))


def _say(console: Console, sentence: str) -> None:
    """Print a sentence in lines; what a hard space ties together stays together."""
    console.print()
    console.print(Text(printable(fill(sentence, width_of(console)).replace("\u00a0", " "))))
