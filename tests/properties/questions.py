"""Random questions that are answered: a grammar of SQL over the tables of `databases`.

A relation is what stands in FROM, with the columns it offers by kind. Expressions are built of
these; aggregates of expressions; a question of keys, aggregates and conditions.
"""

# ruff: noqa: S608 - this file writes questions

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

Draw = st.DrawFn


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What stands in FROM."""

    text: str
    integers: tuple[str, ...] = ()
    reals: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    booleans: tuple[str, ...] = ()
    unit: str | None = None
    """The column that says whose row it is, if there is one."""
    known: tuple[str, ...] = ()
    """Keys whose values are public."""
    unknown: tuple[str, ...] = ()
    """Keys that only the data know."""
    common: str = ""
    """WITH, if the relation is given a name there."""
    is_inner: bool = False
    """Whether it is a query itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A column of the answer: how it is written, and how it can be compared."""

    text: str
    argument: str = ""
    statistic: str = "exact"
    fraction: float = 0.5
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A question of the grammar, whole and in its parts."""

    relation: Relation
    keys: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    where: str = ""
    having: str = ""

    @property
    def sql(self) -> str:
        """The question as it is asked: keys are called k0, k1, … and answers c0, c1, … there."""
        return self.written([each.text for each in self.asked], having=self.having)

    def written(self, answers: Sequence[str], having: str = "") -> str:
        """Return the question with these answers in place of its own."""
        keys = [f"{text} AS k{number}" for number, text in enumerate(self.keys)]
        columns = [f"{text} AS c{number}" for number, text in enumerate(answers)]
        group = ", ".join(str(number + 1) for number in range(len(keys)))
        return " ".join(
            part
            for part in (
                self.relation.common,
                f"SELECT {', '.join([*keys, *columns])} FROM {self.relation.text}",
                self.where and f"WHERE {self.where}",
                group and f"GROUP BY {group}",
                having and f"HAVING {having}",
            )
            if part
        )


# --------------------------------------------------------------------------- relations


def _patients(name: str) -> Relation:
    return Relation(
        text=f"patients {name}",
        integers=(f"{name}.birth_year",),
        reals=(f"{name}.income",),
        texts=(f"{name}.sex", f"{name}.region"),
        days=(f"{name}.joined",),
        booleans=(f"{name}.insured", f"{name}.smoker"),
        unit=f"{name}.patient_id",
        known=(f"{name}.sex", f"{name}.region", f"{name}.insured", f"{name}.smoker"),
    )


def _visits(name: str) -> Relation:
    return Relation(
        text=f"visits {name}",
        integers=(f"{name}.minutes",),
        reals=(f"{name}.cost",),
        texts=(f"{name}.diagnosis", f"{name}.note"),
        days=(f"{name}.day",),
        unit=f"{name}.patient_id",
        known=(
            *(f"date_trunc('month', {name}.day)", f"month({name}.day) > 6"),
            *(f"round({name}.cost, -2)", f"CAST({name}.cost / 100 AS INT)"),
        ),
        unknown=(f"{name}.diagnosis", f"{name}.clinic_id", f"upper({name}.note)"),
    )


def _prescriptions(name: str) -> Relation:
    return Relation(
        text=f"prescriptions {name}",
        reals=(f"{name}.dose",),
        texts=(f"{name}.drug",),
        known=(f"CASE WHEN {name}.dose > 500 THEN 'high' WHEN {name}.dose <= 500 THEN 'low' END",),
        unknown=(f"{name}.drug",),
    )


def _sales(name: str) -> Relation:
    return Relation(
        text=f"sales {name}",
        integers=(f"{name}.items",),
        reals=(f"{name}.amount",),
        texts=(f"{name}.shop",),
        days=(f"{name}.at",),
        known=(
            *(f"{name}.shop", f"extract(month FROM {name}.at)", f"strftime({name}.at, '%Y-%m')"),
            *(f"date_trunc('quarter', {name}.at)", f"floor({name}.amount / 40)"),
            f"dayname({name}.at)",
        ),
        unknown=(f"{name}.items % 3 + 0.5",),
    )


def _clinics(name: str) -> Relation:
    return Relation(
        text=f"clinics {name}",
        integers=(f"clamp({name}.beds, 0, 50)",),
        texts=(f"{name}.name", f"{name}.region"),
        known=(f"{name}.region", f"{name}.name"),
    )


def _rooms(name: str) -> Relation:
    return Relation(
        text=f"rooms {name}",
        integers=(f"{name}.floor",),
        known=(f"{name}.floor",),
    )


def beside(left: Relation, right: Relation, kind: str, on: str) -> Relation:
    """Return both relations joined; the unit is the left one's where it has one."""
    return replace(
        left,
        text=f"{left.text} {kind} {right.text} ON {on}",
        integers=left.integers + right.integers,
        reals=left.reals + right.reals,
        texts=left.texts + right.texts,
        days=left.days + right.days,
        booleans=left.booleans + right.booleans,
        unit=left.unit or (right.unit if kind == "JOIN" else None),
        known=left.known + right.known,
        unknown=left.unknown + right.unknown,
    )


def _constants(name: str) -> Relation:
    """Return constants, of which two rows match one clinic."""
    rows = "(1, 'it''s', 2.5), (1, NULL, -3), (2, 'flu', NULL), (4, '', 40), (NULL, 'x', 1)"
    return Relation(
        text=f"(VALUES {rows}) AS {name}(clinic_id, word, x)",
        reals=(f"{name}.x",),
        texts=(f"{name}.word",),
        known=(f"{name}.word", f"{name}.x > 2"),
    )


def _counted_rooms(name: str) -> Relation:
    """Return the result of a query over public tables."""
    return Relation(
        text=f"(SELECT clinic_id, COUNT(*) AS rooms, MIN(floor) AS floor FROM rooms GROUP BY 1) "
        f"AS {name}",
        integers=(f"{name}.rooms",),
        known=(f"{name}.floor", f"{name}.rooms"),
    )


def _released(name: str, key: str, table: str) -> Relation:
    """Return what is released of each value of a key, without declared groups that are empty."""
    return Relation(
        text=f"(SELECT {key} AS k, COUNT(*) AS n FROM {table} GROUP BY 1 HAVING n > 0) AS {name}",
        integers=(f"clamp({name}.n, 0, 40)",),
        texts=() if key == "clinic_id" else (f"{name}.k",),
        known=(f"{name}.k",) if table == "patients" else (),
        unknown=() if table == "patients" else (f"{name}.k", f"{name}.n > 2"),
    )


JOINS = ("JOIN", "LEFT JOIN")


@st.composite
def tables(draw: Draw) -> Relation:
    """Return a table, or several joined."""
    forms = (_plain, _with_public, _public_first, _with_several_public, _on_unit, _on_path, _outer)
    return draw(st.sampled_from((*forms, _with_constants, _with_released)))(draw)


def _plain(draw: Draw) -> Relation:
    made = draw(st.sampled_from((_patients, _visits, _visits, _prescriptions, _sales)))
    return made("t")


def _with_public(draw: Draw) -> Relation:
    if draw(st.booleans()):
        left, column = _visits("v"), "v.clinic_id"
    else:
        left, column = _sales("s"), "s.items"
    made = draw(st.sampled_from((_clinics, _rooms)))
    kind = draw(st.sampled_from(JOINS))
    return beside(left, made("c"), kind, f"{column} = c.clinic_id")


def _public_first(draw: Draw) -> Relation:
    made, private = draw(st.sampled_from((_clinics, _rooms)))("c"), _visits("v")
    on = "v.clinic_id = c.clinic_id"
    joined = beside(private, made, "JOIN", on)
    return replace(joined, text=f"{made.text} JOIN {private.text} ON {on}")


def _with_several_public(draw: Draw) -> Relation:
    """Return private rows and two public tables, tied to them or to each other."""
    private, clinics, rooms = _visits("v"), _clinics("c"), _rooms("r")
    on = draw(st.sampled_from(("TRUE", "v.clinic_id = c.clinic_id", "v.clinic_id = r.clinic_id")))
    public = "c.clinic_id = r.clinic_id"
    joined = beside(beside(private, clinics, "JOIN", "TRUE"), rooms, "JOIN", f"{public} AND {on}")
    if draw(st.booleans()):
        return joined
    text = f"{clinics.text} JOIN {rooms.text} ON {public} JOIN {private.text} ON {on}"
    return replace(joined, text=text)


def _with_constants(draw: Draw) -> Relation:
    """Return private rows beside constants, or the result of a query over public tables."""
    made, kind = (
        draw(st.sampled_from((_constants, _counted_rooms)))("c"),
        draw(st.sampled_from(JOINS)),
    )
    on = draw(st.sampled_from(("v.clinic_id = c.clinic_id", "TRUE")))
    return beside(_visits("v"), made, kind, on)


def _with_released(draw: Draw) -> Relation:
    """Return private rows beside what is released of their groups before."""
    kind = draw(st.sampled_from(JOINS))
    if draw(st.booleans()):
        key = draw(st.sampled_from(("diagnosis", "note", "clinic_id")))
        return beside(_visits("v"), _released("a", key, "visits"), kind, f"a.k = v.{key}")
    if draw(st.booleans()):
        return beside(_patients("p"), _released("a", "region", "patients"), kind, "a.k = p.region")
    several = replace(
        _released("a", "sex", "patients"),
        text="(SELECT sex AS k, region, COUNT(*) AS n FROM patients GROUP BY 1, 2 HAVING n > 0) a",
    )
    return beside(_patients("p"), several, kind, draw(st.sampled_from(("a.k = p.sex", "TRUE"))))


def _on_unit(draw: Draw) -> Relation:
    left, right = draw(
        st.sampled_from(((_patients, _visits), (_visits, _patients), (_visits, _visits)))
    )
    kind = draw(st.sampled_from(JOINS))
    on = "a.patient_id = b.patient_id"
    if draw(st.booleans()) and right is _visits:
        on += " AND b.cost > 50"
    return beside(left("a"), right("b"), kind, on)


def _on_path(draw: Draw) -> Relation:
    pair = beside(_prescriptions("r"), _visits("v"), "JOIN", "r.visit_id = v.visit_id")
    if draw(st.booleans()):
        return pair
    kind = draw(st.sampled_from(JOINS))
    return beside(pair, _patients("p"), kind, "p.patient_id = v.patient_id")


def _outer(draw: Draw) -> Relation:
    """Return joins that keep rows without a partner, joins in brackets, and joins as filters."""
    return draw(st.sampled_from((_right, _full, _full_on, _in_brackets, _natural, _semi)))(draw)


def _pair(draw: Draw) -> tuple[Relation, Relation]:
    left, right = draw(
        st.sampled_from(((_patients, _visits), (_visits, _patients), (_visits, _visits)))
    )
    return left("a"), right("b")


def _on(draw: Draw, left: Relation, right: Relation) -> str:
    """Return a condition on a pair of rows."""
    both = beside(left, right, "JOIN", "")
    return f"({draw(conditions(replace(both, unit=None), depth=0))})"


def _right(draw: Draw) -> Relation:
    left, right = _pair(draw)
    on = "a.patient_id = b.patient_id"
    if draw(st.booleans()):
        on += f" AND {_on(draw, left, right)}"
    if draw(st.booleans()):
        left = beside(left, _patients("c"), "JOIN", "a.patient_id = c.patient_id")
    joined = beside(left, right, "RIGHT JOIN", on)
    return replace(joined, unit=right.unit)


def _full(draw: Draw) -> Relation:
    left, right = _pair(draw)
    both = beside(left, right, "FULL JOIN", "")
    text = f"{left.text} FULL JOIN {right.text} USING (patient_id)"
    return replace(both, text=text, unit="patient_id")


def _full_on(draw: Draw) -> Relation:
    """Return FULL JOIN with ON, after which no column is the unit of each row."""
    left, right = _pair(draw)
    on = "a.patient_id = b.patient_id"
    if draw(st.booleans()):
        on += f" AND {_on(draw, left, right)}"
    both = replace(beside(left, right, "FULL JOIN", on), unit=None)
    if draw(st.booleans()):
        return both
    return beside(both, _rooms("r"), "LEFT JOIN", "r.clinic_id = length(b.patient_id::TEXT)")


def _in_brackets(draw: Draw) -> Relation:
    pair = beside(_prescriptions("r"), _visits("v"), "JOIN", "r.visit_id = v.visit_id")
    bracket = replace(pair, text=f"({pair.text})")
    kind = draw(st.sampled_from(JOINS))
    on = "p.patient_id = v.patient_id"
    if draw(st.booleans()):
        return beside(_patients("p"), bracket, kind, on)
    joined = beside(bracket, _patients("p"), f"{draw(st.sampled_from(('FULL', 'RIGHT')))} JOIN", on)
    return replace(joined, unit=None)


def _natural(draw: Draw) -> Relation:
    left, right = draw(st.sampled_from(((_patients, _visits), (_visits, _patients))))
    both = beside(left("a"), right("b"), "JOIN", "")
    kind = draw(st.sampled_from(("", "INNER ", "LEFT ", "FULL ")))
    text = f"{left('a').text} NATURAL {kind}JOIN {right('b').text}"
    return replace(both, text=text, unit="patient_id")


def _semi(draw: Draw) -> Relation:
    kind = draw(st.sampled_from(("SEMI", "ANTI")))
    other = _patients("b")
    left = _visits("a")
    on = f"a.patient_id = b.patient_id AND {_on(draw, left, other)}"
    return replace(left, text=f"{left.text} {kind} JOIN {other.text} ON {on}")


@st.composite
def public_left_joins(draw: Draw) -> "Written":
    """Return questions about a public table with rows that have no private partner."""
    visits, clinics = _visits("v"), _clinics("c")
    rows = replace(visits, unit=None)
    x, test = draw(numbers(rows)), draw(conditions(rows))
    on = "v.clinic_id = c.clinic_id"
    if draw(st.booleans()):
        on += f" AND {_on(draw, visits, clinics)}"
    joined = draw(
        st.sampled_from(
            (
                f"{clinics.text} LEFT JOIN {visits.text} ON {on}",
                f"{visits.text} RIGHT JOIN {clinics.text} ON {on}",
                f"{visits.text} FULL JOIN {clinics.text} ON {on}",
                f"{clinics.text} LEFT JOIN rooms r ON r.clinic_id = c.clinic_id "
                f"LEFT JOIN {visits.text} ON {on}",
                f"{clinics.text} LEFT JOIN ({visits.text} JOIN patients p "
                f"ON p.patient_id = v.patient_id) ON {on} AND p.insured",
            )
        )
    )
    where = draw(st.sampled_from(("", "", " WHERE c.beds > 7", " WHERE c.region = 'north'")))
    asked = [
        *("COUNT(v.visit_id)", "COUNT(DISTINCT v.patient_id)", "SUM(v.cost)"),
        f"SUM(CASE WHEN v.minutes >= 0 AND ({test}) THEN 1 ELSE 0 END)",
        f"SUM({x}) FILTER (WHERE v.patient_id IS NOT NULL)",
        f"COUNT(*) FILTER (WHERE v.day > '2024-02-01' AND ({test}))",
    ]
    chosen = draw(st.lists(st.sampled_from(asked), min_size=1, max_size=3, unique=True))
    key = draw(st.sampled_from(("c.name", "c.region", "c.beds > 7", "c.name, c.region")))
    return Written(f"SELECT {key}, {', '.join(chosen)} FROM {joined}{where} GROUP BY {key}")


@st.composite
def outer_joins(draw: Draw) -> Relation:
    """Return joins that keep rows without a partner, and joins in brackets."""
    return _outer(draw)


@st.composite
def relations(draw: Draw) -> Relation:
    """Return what stands in FROM: tables, or a query over them that keeps the unit."""
    if draw(st.booleans()):
        return draw(tables())
    return draw(st.sampled_from(INNER).flatmap(inner))


@st.composite
def inner(draw: Draw, form: Callable[[Draw], Relation]) -> Relation:
    """Return a query of this form, in FROM or in WITH."""
    made = form(draw)
    if draw(st.booleans()):
        return replace(made, text="d", common=f"WITH d AS ({made.text})", is_inner=True)
    return replace(made, text=f"({made.text}) AS d", is_inner=True)


@st.composite
def _with_units(draw: Draw) -> Relation:
    """Return tables whose rows show their unit."""
    return draw(tables().filter(lambda each: each.unit is not None))


def _where(draw: Draw, relation: Relation) -> str:
    return f" WHERE {draw(filters(relation))}" if draw(st.booleans()) else ""


def _derived(draw: Draw) -> Relation:
    inner = draw(_with_units())
    x, y = draw(numbers(inner)), draw(numbers(inner))
    condition = draw(conditions(inner))
    key = draw(st.sampled_from((*inner.known, *inner.unknown)))
    is_known = key in inner.known
    columns = f"{inner.unit} AS u, {x} AS x, {y} AS y, ({condition}) AS f, {key} AS g"
    return Relation(
        text=f"SELECT {columns} FROM {inner.text}{_where(draw, inner)}",
        reals=("d.x", "d.y"),
        booleans=("d.f",),
        unit="d.u",
        known=("d.g",) if is_known else (),
        unknown=() if is_known else ("d.g",),
    )


def _per_unit(draw: Draw) -> Relation:
    inner = draw(_with_units())
    x = draw(numbers(inner))
    aggregates = {
        "n": "COUNT(*)",
        "m": f"COUNT({x})",
        "k": f"COUNT(DISTINCT {x})",
        "s": f"SUM({x})",
        "a": f"AVG({x})",
        "lo": f"MIN({x})",
        "hi": f"MAX({x})",
        "med": f"MEDIAN({x})",
        **_of_one_row(draw, inner, x),
    }
    chosen = draw(st.lists(st.sampled_from(list(aggregates)), min_size=1, max_size=3, unique=True))
    columns = ", ".join(f"{aggregates[name]} AS {name}" for name in chosen)
    key = draw(st.sampled_from(("", *inner.known, *inner.unknown)))
    picked = (" HAVING COUNT(*) >= 2", f" HAVING MAX({x}) > 20", f" HAVING BOOL_OR({x} > 20)")
    having = draw(st.sampled_from(("", *picked)))
    columns += f", {key} AS g" if key else ""
    group = f"{inner.unit}{', ' + key if key else ''}"
    where = _where(draw, inner)
    return Relation(
        text=f"SELECT {inner.unit} AS u, {columns} FROM {inner.text}{where} "
        f"GROUP BY {group}{having}",
        reals=tuple(_bounded(name) for name in chosen),
        unit="d.u",
        known=("d.g",) if key in inner.known else (),
        unknown=("d.g",) if key in inner.unknown else (),
    )


def _of_one_row(draw: Draw, inner: Relation, x: str) -> dict[str, str]:
    """Return aggregates that only the rows of a unit have, whatever ties DuckDB leaves open."""
    y, z, condition = draw(_columns(inner)), draw(_columns(inner)), draw(conditions(inner, depth=0))
    where = draw(st.sampled_from(("", f" FILTER (WHERE {condition})")))
    forms = {
        "top": f"ARG_MAX(ABS({x}), {x}){where}",
        "least": f"MIN_BY({x} - 1, {x}){where}",
        "fst": f"FIRST({x} ORDER BY {y} DESC, {x}){where}",
        "lst": f"LAST({x} ORDER BY {y} NULLS FIRST, {x}){where}",
        "lone": f"ANY_VALUE({x} ORDER BY {y}, {x}){where}",
        "once": f"CASE WHEN BOOL_OR({condition}) THEN 1 ELSE 0 END",
        "ever": f"CASE WHEN BOOL_AND({x} > 20){where} THEN 3 END",
        "pairs": f"COUNT(DISTINCT ({z}, {y}))",
    }
    if inner.texts:
        text = draw(st.sampled_from(inner.texts))
        forms |= {
            "word": f"LEAST(length(MAX({text}){where}), 9)",
            "letter": f"CASE WHEN ARG_MIN({text}, {text}) < 'f' THEN 1 ELSE 2 END",
        }
    return forms


def _bounded(name: str) -> str:
    """Return a number of a unit; how many rows it has is clamped, since nothing bounds it."""
    is_open = name in {"n", "m", "k", "s", "pairs"}
    return f"clamp(d.{name}, -100, 1000)" if is_open else f"d.{name}"


def _united(draw: Draw) -> Relation:
    parts = []
    for relation in (draw(_with_units()), draw(_with_units())):
        x, condition = draw(numbers(relation)), draw(conditions(relation))
        where = _where(draw, relation)
        parts.append(
            f"SELECT {relation.unit} AS u, {x} * 1.0 AS x, ({condition}) AS f "
            f"FROM {relation.text}{where}"
        )
    return Relation(text=" UNION ALL ".join(parts), reals=("d.x",), booleans=("d.f",), unit="d.u")


def _combined(draw: Draw) -> Relation:
    """Return rows of a unit that are (not) among others of it, each once."""
    pairs = [draw(_with_units()) for _ in range(draw(st.sampled_from((2, 2, 3))))]
    is_wide = draw(st.booleans())
    parts = []
    for relation in pairs:
        wide = f", {draw(st.sampled_from(relation.texts))} AS g" if is_wide else ""
        where = _where(draw, relation)
        parts.append(f"SELECT {relation.unit} AS u{wide} FROM {relation.text}{where}")
    text = parts[0]
    for part in parts[1:]:
        word = draw(st.sampled_from(("UNION", "UNION", "EXCEPT", "INTERSECT", "UNION ALL")))
        text = f"({text}) {word} {part}" if draw(st.booleans()) else f"{text} {word} {part}"
    return Relation(
        text=text,
        integers=("clamp(d.u, 0, 9)",),
        texts=("d.g",) if is_wide else (),
        unit="d.u",
        unknown=("d.g",) if is_wide else (),
    )


def _first_rows(draw: Draw) -> Relation:
    """Return one row of each unit, or of each unit and key."""
    inner = draw(_with_units())
    key = draw(st.sampled_from(("", *inner.known, *inner.unknown)))
    numbers_read = (*inner.integers, *inner.reals)
    order = draw(st.permutations(sorted({*numbers_read, *inner.texts, *inner.days})))
    way = draw(st.sampled_from(("", " DESC", " NULLS FIRST")))
    by = ", ".join([inner.unit or "", *([key] if key else []), f"{order[0]}{way}", *order[1:]])
    x = draw(st.sampled_from(numbers_read))
    flag = draw(conditions(inner, depth=0))
    return Relation(
        text=f"SELECT DISTINCT ON ({inner.unit}{key and f', {key}'}) {inner.unit} AS u, {x} AS x, "
        f"({flag}) AS f FROM {inner.text}{_where(draw, inner)} ORDER BY {by}",
        reals=("d.x",),
        booleans=("d.f",),
        unit="d.u",
    )


RUNNING = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


def _windowed(draw: Draw) -> Relation:
    over = "PARTITION BY patient_id"
    order = "ORDER BY day, visit_id, cost"
    windows = {
        "w1": f"ROW_NUMBER() OVER ({over} {order})",
        "w2": f"COUNT(*) OVER ({over})",
        "w3": f"LAG(minutes) OVER ({over} {order})",
        "w4": f"LEAD(minutes, 2, 5) OVER ({over} {order})",
        "w5": f"SUM(minutes) OVER ({over} {order} {RUNNING})",
        "w6": f"MAX(cost) OVER ({over})",
        "w7": f"DENSE_RANK() OVER ({over} ORDER BY diagnosis)",
        "w8": f"FIRST_VALUE(cost) OVER ({over}, clinic_id {order})",
        "w10": f"SUM(minutes) OVER ({over} {order} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "w11": f"MAX(minutes) OVER ({over} {order} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        "w9": f"MIN(minutes) OVER ({over}, diagnosis)",
    }
    chosen = draw(st.lists(st.sampled_from(list(windows)), min_size=1, max_size=3, unique=True))
    columns = ", ".join(f"{windows[name]} AS {name}" for name in chosen)
    picked = ("", f"{windows['w1']} <= 2", f"{windows['w1']} = 1", f"{windows['w7']} = 1")
    qualify = draw(st.sampled_from((*picked, f"{chosen[0]} > 1")))
    where = _where(draw, _visits("t"))
    named = ""
    if draw(st.booleans()):
        columns = columns.replace(f"OVER ({over} {order})", "OVER v").replace(f"({over} ", "(w ")
        named = f" WINDOW w AS ({over}), v AS (w {order})"
    return Relation(
        text=f"SELECT patient_id AS u, diagnosis AS g, {columns} FROM visits t{where}{named}"
        f"{qualify and f' QUALIFY {qualify}'}",
        reals=tuple(f"clamp(d.{name}, 0, 300)" for name in chosen),
        unit="d.u",
        unknown=("d.g",),
    )


def _distinct(draw: Draw) -> Relation:
    inner = draw(_with_units())
    key = draw(st.sampled_from((*inner.known, *inner.unknown)))
    columns = f"{inner.unit} AS u, {key} AS g, {draw(numbers(inner))} AS x"
    is_known = key in inner.known
    return Relation(
        text=f"SELECT DISTINCT {columns} FROM {inner.text}{_where(draw, inner)}",
        reals=("d.x",),
        unit="d.u",
        known=("d.g",) if is_known else (),
        unknown=() if is_known else ("d.g",),
    )


def _split(draw: Draw) -> Relation:
    """Return a row for each part of a text, of which the query takes some."""
    inner = draw(_with_units().filter(lambda each: bool(each.texts)))
    text = draw(st.sampled_from(inner.texts))
    first = draw(st.integers(1, 2))
    sign = draw(st.sampled_from(("l", "a", "e")))
    parts = f"UNNEST(string_split({text}, '{sign}')[{first}:{first + draw(st.integers(0, 2))}])"
    columns = f"{inner.unit} AS u, {parts} AS g, {draw(numbers(inner))} AS x"
    return Relation(
        text=f"SELECT {columns} FROM {inner.text}{_where(draw, inner)}",
        reals=("d.x",),
        unit="d.u",
        unknown=("d.g",),
    )


def _row_by_row(draw: Draw) -> Relation:
    """Return rows that are units of their own."""
    sales = _sales("t")
    x, key = draw(numbers(sales)), draw(st.sampled_from((*sales.known, *sales.unknown)))
    return Relation(
        text=f"SELECT {x} AS x, {key} AS g FROM {sales.text}{_where(draw, sales)}",
        reals=("d.x",),
        unknown=("d.g",),
    )


def _of_units_once_more(draw: Draw) -> Relation:
    """Return groups by unit of groups by unit, or beside the unit's other rows."""
    first = _per_unit(draw)
    column = first.reals[0].removeprefix("clamp(").split(",")[0].replace("d.", "e.")
    bounded = f"clamp({column}, -100, 1000)"
    if draw(st.booleans()):
        grouped = f"SELECT e.u AS u, COUNT(*) AS n, MAX({bounded}) AS x FROM ({first.text}) AS e"
        return Relation(text=f"{grouped} GROUP BY e.u", reals=(_bounded("n"), "d.x"), unit="d.u")
    kind = draw(st.sampled_from(JOINS))
    return Relation(
        text=f"SELECT p.patient_id AS u, p.sex AS g, {bounded} AS x, p.income AS y "
        f"FROM patients p {kind} ({first.text}) AS e ON e.u = p.patient_id",
        reals=("d.x", "d.y"),
        unit="d.u",
        known=("d.g",),
    )


def _lateral(draw: Draw) -> Relation:
    """Return patients beside what LATERAL says of their visits."""
    where = "v.patient_id = p.patient_id"
    if draw(st.booleans()):
        where += " AND v.day > p.joined"
    if draw(st.booleans()):
        inner = f"SELECT COUNT(*) AS n, MAX(v.minutes) AS x FROM visits v WHERE {where}"
        joined = f"CROSS JOIN LATERAL ({inner}) AS t"
    else:
        limit = draw(st.sampled_from(("", " ORDER BY v.day, v.visit_id, v.minutes LIMIT 2")))
        inner = f"SELECT v.clinic_id, v.minutes FROM visits v WHERE {where}{limit}"
        joined = f"LEFT JOIN LATERAL ({inner}) AS t(n, x) ON TRUE"
    return Relation(
        text="SELECT p.patient_id AS u, p.sex AS g, clamp(t.n, 0, 9) AS n, t.x AS x "
        f"FROM patients p {joined}",
        reals=("d.n", "d.x"),
        unit="d.u",
        known=("d.g",),
    )


def _along_path(draw: Draw) -> Relation:
    """Return groups by the key of a path, or rows beside others of the same key."""
    forms = (
        "SELECT r.visit_id AS v, COUNT(*) AS n, MAX(r.dose) AS x FROM prescriptions r "
        "GROUP BY r.visit_id",
        "SELECT v.visit_id AS v, COUNT(r.drug) AS n, MIN(v.cost) AS x FROM visits v "
        "JOIN prescriptions r ON r.visit_id = v.visit_id GROUP BY v.visit_id",
        "SELECT v.visit_id AS v, (SELECT COUNT(*) FROM prescriptions r WHERE r.visit_id = "
        "v.visit_id AND r.dose > v.cost) AS n, v.cost AS x FROM visits v",
        "SELECT r.visit_id AS v, (SELECT v.minutes FROM visits v WHERE v.visit_id = r.visit_id) "
        "AS n, r.dose AS x FROM prescriptions r",
        "SELECT a.visit_id AS v, 1 AS n, a.dose AS x FROM prescriptions a WHERE EXISTS (SELECT 1 "
        "FROM prescriptions b WHERE b.visit_id = a.visit_id AND b.drug <> a.drug)",
        "SELECT a.visit_id AS v, a.dose AS x, ROW_NUMBER() OVER (PARTITION BY a.visit_id ORDER BY "
        "a.dose, a.drug) AS n FROM prescriptions a",
        "SELECT a.visit_id AS v, a.dose AS x, 2 AS n FROM prescriptions a JOIN prescriptions b "
        "ON b.visit_id = a.visit_id",
    )
    return Relation(
        text=draw(st.sampled_from(forms)),
        reals=("clamp(d.n, 0, 300)", "d.x"),
    )


INNER = (
    _split,
    *(_lateral, _along_path),
    *(_derived, _per_unit, _united, _windowed, _distinct),
    *(_row_by_row, _of_units_once_more, _combined, _first_rows),
)


def windows() -> st.SearchStrategy[Relation]:
    """Return queries with windows."""
    return inner(_windowed)


def sets() -> st.SearchStrategy[Relation]:
    """Return set operations, and rows of which one of each unit is kept."""
    return st.sampled_from((_combined, _first_rows)).flatmap(inner)


@st.composite
def paths(draw: Draw) -> Relation:
    """Return joins along a path of keys to the unit."""
    return _on_path(draw)


def tied() -> st.SearchStrategy[Relation]:
    """Return queries that read rows around them, and groups by keys of paths."""
    return st.sampled_from((_lateral, _along_path)).flatmap(inner)


@st.composite
def several_public(draw: Draw) -> Relation:
    """Return private rows beside two public tables."""
    return _with_several_public(draw)


@st.composite
def listed_tables(draw: Draw) -> Relation:
    """Return private rows beside constants, or beside what was released before."""
    return draw(st.sampled_from((_with_constants, _with_released)))(draw)


@st.composite
def single_tables(draw: Draw) -> Relation:
    """Return one table alone."""
    return _plain(draw)


# --------------------------------------------------------------------------- groups of a unit


@dataclass(frozen=True, slots=True)
class Written:
    """A question that is not made of parts."""

    sql: str


GROUPING = ("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), {}, ())", "GROUPING SETS ({}, ())")


@st.composite
def grouped_by_sets(draw: Draw) -> Written:
    """Return a question by several sets of keys."""
    drawn = draw(questions().filter(lambda each: bool(each.keys)))
    keys = ", ".join(str(place + 1) for place in range(len(drawn.keys)))
    form = draw(st.sampled_from(GROUPING)).replace("{}", keys)
    before, _, after = drawn.sql.rpartition(f"GROUP BY {keys}")
    return Written(f"{before}GROUP BY {form}{after}")


UNITS = "COUNT(DISTINCT v.patient_id) AS n"

IN_TURN = tuple(
    f"SELECT {keys}, {asked} FROM visits AS v{rows} GROUP BY {keys}"
    for keys in ("v.diagnosis", "v.clinic_id", "v.clinic_id, v.diagnosis", "upper(v.note)")
    for asked in (UNITS, f"{UNITS}, COUNT(*)", f"AVG(v.minutes), {UNITS}", "MEDIAN(v.minutes)")
    for rows in (
        "",
        " WHERE v.minutes > 20",
        " JOIN patients AS p ON p.patient_id = v.patient_id WHERE p.insured",
    )
)
IN_GROUPS = (
    *IN_TURN,
    "SELECT drug, COUNT(DISTINCT dose > 500) FROM prescriptions GROUP BY drug",
    "SELECT drug, SUM(dose) FROM prescriptions WHERE dose > 1 GROUP BY drug",
    "SELECT c.region, COUNT(DISTINCT v.patient_id) FROM visits v "
    "JOIN clinics c ON c.clinic_id = v.clinic_id GROUP BY c.region",
    "SELECT v.clinic_id, COUNT(DISTINCT v.patient_id), MODE(p.sex) FROM visits v "
    "JOIN patients p ON p.patient_id = v.patient_id GROUP BY v.clinic_id",
    "SELECT a.diagnosis, b.diagnosis AS d, COUNT(DISTINCT a.patient_id) FROM visits a "
    "JOIN visits b ON a.patient_id = b.patient_id GROUP BY a.diagnosis, b.diagnosis",
    "SELECT note, COUNT(DISTINCT patient_id), COUNT(DISTINCT minutes > 30), COUNT(*) FROM visits "
    "GROUP BY note",
)
"""Questions by group, in which the noise depends on how many groups a unit is in."""


# --------------------------------------------------------------------------- expressions


def _columns(relation: Relation) -> st.SearchStrategy[str]:
    return st.sampled_from(relation.integers + relation.reals)


@st.composite
def numbers(draw: Draw, relation: Relation) -> str:
    """Return a bounded number of a row."""
    x = draw(_columns(relation))
    y = draw(_columns(relation))
    forms = [
        x,
        x,
        x,
        f"{x} * 1.2 + {y}",
        f"{x} - {y}",
        f"ABS({x} - 20)",
        f"CASE WHEN {x} > 60 THEN 1 ELSE 0 END",
        f"CASE WHEN {draw(conditions(relation, depth=0))} THEN {x} END",
        f"CLAMP({x} / ({y} - 30), -5, 5)",
        f"LEAST(GREATEST({x}, 10), 100)",
        f"COALESCE({x}, 7)",
        f"CAST(CLAMP({x}, -1000, 1000) AS INTEGER) % 7",
        f"ROUND({x}, 1)",
        f"NULLIF({x}, 0)",
    ]
    if relation.days:
        forms.append(f"month({draw(st.sampled_from(relation.days))})")
    if relation.texts:
        forms.append(f"LEAST(length({draw(st.sampled_from(relation.texts))}), 9)")
    return draw(st.sampled_from(forms))


@st.composite
def conditions(draw: Draw, relation: Relation, depth: int = 1) -> str:
    """Return a condition on a row."""
    if depth and draw(st.integers(0, 2)) == 0:
        a, b = (draw(conditions(relation, depth=depth - 1)) for _ in range(2))
        return draw(st.sampled_from((f"({a}) AND ({b})", f"({a}) OR ({b})", f"NOT ({a})")))
    x = draw(_columns(relation))
    y = draw(_columns(relation))
    number = draw(st.sampled_from((0, 30, 60.5, 1960)))
    forms = [
        f"{x} > {number}",
        f"{x} <= {number}",
        f"{x} <> {y}",
        f"{x} BETWEEN 1 AND 100",
        f"{x} IN (0, 30, 33.25, 1950)",
        f"{x} IS NULL",
        f"1 / ({x} - 30) > 0",
        f"{x} IS DISTINCT FROM {y}",
    ]
    if relation.texts:
        text = draw(st.sampled_from(relation.texts))
        forms += [
            f"{text} LIKE '%a%'",
            f"{text} ILIKE 'A%' OR {text} IS NULL",
            f"{text} NOT IN ('flu', 'f')",
            f"TRY_CAST({text} AS INTEGER) = 3",
            f"{text} = 'north'",
            f"split_part({text}, 'l', -1) < lpad({text}, 3, 'x')",
            f"regexp_extract({text}, '([a-km-z]+)l', 1) = 'a' OR {text} ~* '^n'",
            f"{text} = ANY(['flu', 'f', NULL])",
            f"strlen(regexp_replace({text}, '[aeiou]', '<\\0>')) > 5",
        ]
    if relation.days:
        day = draw(st.sampled_from(relation.days))
        forms += [
            f"{day} >= DATE '2024-02-01'",
            f"extract(year FROM {day}) = 2024",
            f"{day} + INTERVAL 1 MONTH < TIMESTAMP '2024-07-01 00:00:00'",
            f"date_diff('day', {day}, DATE '2024-06-01') BETWEEN 0 AND 100",
            f"{day} + INTERVAL 3 HOUR - TIMESTAMP '2024-02-01 00:00:00' > INTERVAL 30 DAY",
            f"last_day({day}) > time_bucket(INTERVAL '10 days', {day})",
            f"strftime({day}, '%W') < '20'",
        ]
    if relation.booleans:
        flag = draw(st.sampled_from(relation.booleans))
        forms += [flag, f"NOT {flag}", f"{flag} IS NOT TRUE"]
    if (unit := relation.unit) and "." in unit:  # else the inner query would take it for its own
        forms += [
            f"EXISTS (SELECT 1 FROM visits e WHERE e.patient_id = {unit} AND e.cost > 90)",
            f"NOT EXISTS (SELECT 1 FROM patients e WHERE {unit} = e.patient_id AND e.insured)",
            f"{unit} IN (SELECT patient_id FROM visits WHERE minutes > 20)",
            f"{unit} NOT IN (SELECT patient_id FROM patients WHERE sex = 'f')",
            f"{unit} IN (SELECT patient_id FROM visits WHERE visit_id IN "
            "(SELECT visit_id FROM prescriptions WHERE dose > 0))",
            f"{unit} = 2",
            *_tied_conditions(x, unit),
        ]
    return draw(st.sampled_from(forms))


@st.composite
def filters(draw: Draw, relation: Relation) -> str:
    """Return what WHERE says: a condition, or one on keys of a path, which is answered there."""
    condition = draw(conditions(relation))
    if relation.text not in ("visits t", "visits v") or draw(st.booleans()):
        return condition
    key = f"{relation.text[-1]}.visit_id"
    forms = (
        f"{key} IN (SELECT visit_id FROM prescriptions WHERE dose > 0)",
        f"({key} IN (SELECT visit_id FROM prescriptions GROUP BY 1 HAVING COUNT(*) > 1) OR "
        f"{key} IN (SELECT visit_id FROM visits WHERE cost > 90))",
    )
    return f"({condition}) AND {draw(st.sampled_from(forms))}"


def _tied_conditions(x: str, unit: str) -> tuple[str, ...]:
    """Return conditions on queries that read the row around them."""
    visits = f"FROM visits e WHERE e.patient_id = {unit}"
    return (
        f"(SELECT COUNT(*) {visits}) > 1",
        f"(SELECT MAX(e.minutes) - MIN(e.minutes) {visits} AND e.cost > 20) >= 30",
        f"(SELECT COALESCE(SUM(e.minutes), 0) {visits} HAVING COUNT(*) > 1) < 100",
        f"(SELECT e.clinic_id {visits} ORDER BY e.day DESC, e.visit_id, e.clinic_id LIMIT 1) = 2",
        f"{x} <= ALL (SELECT e.minutes {visits})",
        f"{x} > ANY (SELECT e.minutes {visits} AND e.cost > 20)",
        f"'flu' NOT IN (SELECT e.diagnosis {visits})",
        f"EXISTS (SELECT e.clinic_id {visits} GROUP BY e.clinic_id HAVING COUNT(*) > 1)",
        "EXISTS (SELECT 1 FROM visits e JOIN clinics f ON f.clinic_id = e.clinic_id "
        f"WHERE e.patient_id = {unit} AND f.beds > 5)",
    )


# --------------------------------------------------------------------------- aggregates

Form = Callable[[str], Asked]


def _simple(name: str, statistic: str = "exact") -> Form:
    return lambda x: Asked(text=f"{name}({x})", argument=x, statistic=statistic)


NUMERIC: tuple[Form, ...] = (
    _simple("COUNT"),
    _simple("SUM", "sum"),
    _simple("SUM", "sum"),
    _simple("AVG", "mean"),
    _simple("VAR_POP", "variance"),
    _simple("VARIANCE", "variance"),
    _simple("STDDEV", "deviation"),
    _simple("STDDEV_POP", "deviation"),
    lambda x: Asked(text=f"COUNT(DISTINCT {x})", argument=x),
    lambda x: Asked(text=f"SUM(DISTINCT {x})", argument=x, statistic="distinct sum"),
    _simple("MIN", "end"),
    _simple("MAX", "end"),
    _simple("MEDIAN", "quantile"),
    lambda x: Asked(
        text=f"PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {x})",
        argument=x,
        statistic="quantile",
        fraction=0.9,
    ),
    lambda x: Asked(
        text=f"QUANTILE_DISC({x}, 0.25)", argument=x, statistic="quantile", fraction=0.25
    ),
    lambda x: Asked(
        text=f"QUANTILE_CONT({x}, [0.1, 0.9])[2]", argument=x, statistic="quantile", fraction=0.9
    ),
)


def _of_pair(name: str) -> Callable[[str, str], Asked]:
    return lambda y, x: Asked(
        text=f"{name}({y}, {x})",
        argument=f"CASE WHEN {x} IS NOT NULL THEN {y} END",
        statistic="pairs",
    )


OF_PAIRS = tuple(
    map(_of_pair, ("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2"))
)


@st.composite
def aggregates(draw: Draw, relation: Relation) -> Asked:
    """Return an aggregate over rows of many units."""
    if draw(st.integers(0, 3)) == 0:
        return draw(_counts(relation))
    made = draw(st.sampled_from(NUMERIC))(draw(numbers(relation)))
    if draw(st.integers(0, 7)) == 0:
        y, x = draw(numbers(relation)), draw(numbers(relation))
        made = draw(st.sampled_from(OF_PAIRS))(y, x)
    if draw(st.integers(0, 3)) == 0 and not made.text.endswith("]"):
        where = draw(conditions(relation, depth=0))
        return replace(made, text=f"{made.text} FILTER (WHERE {where})", where=where)
    return made


@st.composite
def _counts(draw: Draw, relation: Relation) -> Asked:
    forms = [Asked(text="COUNT(*)")]
    for x in (*relation.integers, *relation.reals)[:1]:
        forms += [
            Asked(text=f"COUNT(*) FILTER (WHERE {x} > 30)"),
            Asked(text=f"COUNT_IF({x} <= 30)", statistic="sum"),
        ]
        forms.append(Asked(text=f"SUM(CASE WHEN {x} IS NULL THEN 1 ELSE 0 END)", statistic="sum"))
    if relation.unit:
        forms.append(Asked(text=f"COUNT(DISTINCT {relation.unit})"))
    if relation.texts:
        text = draw(st.sampled_from(relation.texts))
        forms += [Asked(text=f"COUNT(DISTINCT {text})"), Asked(text=f"COUNT({text})")]
    if relation.booleans:
        flag = draw(st.sampled_from(relation.booleans))
        forms.append(Asked(text=f"MODE({flag})", argument=flag, statistic="mode"))
    if relation.days:
        day = draw(st.sampled_from(relation.days))
        forms.append(Asked(text=f"MIN({day})", argument=day, statistic="end"))
        forms.append(Asked(text=f"MEDIAN({day})", argument=day, statistic="quantile"))
    where = draw(conditions(relation, depth=0))
    forms.append(Asked(text=f"COUNT(*) FILTER (WHERE {where})"))
    return draw(st.sampled_from(forms))


# --------------------------------------------------------------------------- questions


@st.composite
def questions(draw: Draw, source: st.SearchStrategy[Relation] | None = None) -> Drawn:
    """Return a question about private rows."""
    relation = draw(relations() if source is None else source)
    keys: list[str] = []
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 3)))):
        options = [*relation.known, *relation.unknown]
        if relation.booleans or relation.reals:
            options.append(f"({draw(conditions(relation, depth=0))})")
        if relation.integers:
            options.append(f"{draw(st.sampled_from(relation.integers))} // 60")
        keys.append(draw(st.sampled_from(options)))
    asked = draw(st.lists(aggregates(relation), min_size=1, max_size=3))
    where = draw(filters(relation)) if draw(st.booleans()) else ""
    if not relation.is_inner and draw(st.integers(0, 7)) == 0 and relation.reals:
        where = f"{relation.reals[0]} > (SELECT AVG(cost) FROM visits) + 0.0017"
    if relation.texts and draw(st.integers(0, 7)) == 0:
        inner = "SELECT diagnosis FROM visits GROUP BY 1 HAVING COUNT(*) > 1"
        where = f"{relation.texts[0]} {draw(st.sampled_from(('IN', 'NOT IN')))} ({inner})"
    having = draw(st.sampled_from(("", "", "", "COUNT(*) > 1")))
    return Drawn(
        relation=relation,
        keys=tuple(dict.fromkeys(keys)),
        asked=tuple(asked),
        where=where,
        having=having,
    )
