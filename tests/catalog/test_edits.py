"""One setting of a catalog file is changed, and nothing else."""

import pytest

from discreet.catalog.edits import with_rows_per_unit
from discreet.errors import CatalogError

TEXT = """\
# Mine.
[budget]
epsilon = 1.0   # total

[tables.other]
unit = "u"
rows_per_unit = 7   # stays

[tables."my flights"]   # [tables.x]
from = "a.csv"
unit = "tailnum"
rows_per_unit = "auto"   # of each plane

[tables."my flights".columns]
x = { type = "integer" }
"""


def test_the_number_takes_the_place_of_auto_and_comments_stay() -> None:
    found = with_rows_per_unit(TEXT, "my flights", 512)
    assert found == TEXT.replace('"auto"', "512")
    assert with_rows_per_unit(found, "MY FLIGHTS", 9) == TEXT.replace('"auto"', "9")


def test_windows_line_ends_and_other_tables_stay() -> None:
    text = TEXT.replace("\n", "\r\n")
    assert with_rows_per_unit(text, "other", 2) == text.replace("= 7 ", "= 2 ")


def test_a_guess_is_no_guess_any_more() -> None:
    text = TEXT.replace("7   # stays", "10   # GUESS: at most so many")
    assert "rows_per_unit = 3\n" in with_rows_per_unit(text, "other", 3)


def test_a_setting_that_is_not_there_is_added_below_the_unit() -> None:
    text = TEXT.replace("rows_per_unit = 7   # stays\n", "")
    assert 'unit = "u"\nrows_per_unit = 4\n' in with_rows_per_unit(text, "other", 4)


def test_what_cannot_be_edited_is_left_to_the_owner() -> None:
    text = 'tables.t = { unit = "u", rows_per_unit = "auto" }\n'
    with pytest.raises(CatalogError, match="rows_per_unit = 5 there yourself"):
        with_rows_per_unit(text, "t", 5)
