"""Lists of quantiles look like lists: in text, in CSV and in JSON."""

import json

import pyarrow as pa

from discreet.answer.columns import Role, columns_of, csv_text, json_rows
from discreet.answer.rendering import value_text


def test_a_list_is_shown_with_its_values_and_nulls() -> None:
    assert value_text([61.0, 1234.5678, None]) == "[61, 1234.57, NULL]"
    assert value_text(list(range(100))).endswith("…")


def test_a_list_is_a_list_in_json_and_its_text_in_csv() -> None:
    columns = columns_of(pa.table({"q": [[1.5, None], None]}), [Role.VALUE], [None])
    assert json.dumps(list(json_rows(columns))) == "[[[1.5, null]], [null]]"
    assert csv_text(columns, errors=True).splitlines()[:2] == ["q", '"[1.5, null]"']
