"""Lines of keys: every key of a valid TOML text is found where it stands."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.entries import Location, Path, lines_of, written_key, written_text

TEXT = '''\
# [not.a.table]
top = 1
dotted."quoted \\u0041.key".'lit"eral' = 2024-01-01 10:00:00

[ a . b ]   # header
x = { y = [1, { z = "}" }], w.v = 3.5 } # }
list = [
  "one # [",
  'two',   # comment ]

  [3, 4],
]
long = """
[no.table]
key = 1 "" """""
after = \'\'\'\\\'\'\'

[[c]]
d = 1
[[c]]
e = 2
[c.f]
g = 3
'''

LINES: dict[Path, int] = {
    ("top",): 2,
    ("dotted",): 3,
    ("dotted", "quoted A.key"): 3,
    ("dotted", "quoted A.key", 'lit"eral'): 3,
    ("a",): 5,
    ("a", "b"): 5,
    ("a", "b", "x"): 6,
    ("a", "b", "x", "y"): 6,
    ("a", "b", "x", "y", 0): 6,
    ("a", "b", "x", "y", 1): 6,
    ("a", "b", "x", "y", 1, "z"): 6,
    ("a", "b", "x", "w"): 6,
    ("a", "b", "x", "w", "v"): 6,
    ("a", "b", "list"): 7,
    ("a", "b", "list", 0): 8,
    ("a", "b", "list", 1): 9,
    ("a", "b", "list", 2): 11,
    ("a", "b", "list", 2, 0): 11,
    ("a", "b", "list", 2, 1): 11,
    ("a", "b", "long"): 13,
    ("a", "b", "after"): 16,
    ("c",): 18,
    ("c", 0): 18,
    ("c", 0, "d"): 19,
    ("c", 1): 20,
    ("c", 1, "e"): 21,
    ("c", 1, "f"): 22,
    ("c", 1, "f", "g"): 23,
}


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    """Yield the path of all that a parsed text holds."""
    items: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    for key, each in items:
        yield (*path, key)
        yield from paths(each, (*path, key))


def test_every_key_has_its_line() -> None:
    assert lines_of(TEXT) == LINES
    assert set(paths(tomllib.loads(TEXT))) == set(LINES)


@given(st.text())
def test_a_text_is_read_back_as_it_was_written(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    parsed = tomllib.loads(f"{written_key(text)} = {written_text(text)}")
    assert parsed == {text: text}
    assert lines_of(f"\n{written_key(text)} = {written_text(text)}") == {(text,): 2}


@given(
    st.recursive(
        st.booleans() | st.integers() | st.text(alphabet="a\"\\#[]{}=,.\n' "),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(alphabet='a".#]} '), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_the_walk_finds_what_the_parser_finds(value: object) -> None:
    text = f"x = {_inline(value)}\n"
    assert set(lines_of(text)) == set(paths(tomllib.loads(text)))
    assert set(lines_of(text).values()) == {1}


def _inline(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return written_text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{written_key(k)} = {_inline(v)}' for k, v in value.items())}}}"
    return str(value)


@pytest.mark.parametrize(
    ("path", "name", "line"),
    [
        (("a", "b c", 0), 'a."b c"[0]', 7),
        (("a", "x", "y"), "bounds['x'].y", 3),
        (("z",), "z", None),
    ],
)
def test_a_place_says_its_name_and_the_nearest_line(
    path: Path, name: str, line: int | None
) -> None:
    place = Location(lines={("a",): 3, ("a", "b c"): 7}, arguments={("a", "x"): "bounds['x']"})
    assert str(place.at(*path)) == name
    assert place.at(*path).line == line
