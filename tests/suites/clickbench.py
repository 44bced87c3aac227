"""The table of ClickBench, with the columns that its queries read, and the user as unit.

The rows are our own: some thousand users of whom few have many hits, on pages of which few are
seen by many.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

USERS, PAGES, PHRASES, ADDRESSES = 3000, 400, 150, 2000
MOST_HITS = 20
"""Of a user."""

SITES = ("www.google.com", "mail.google.com", "yandex.ru", "www.example.org", "news.example.net")
MODELS = ("", "iPad", "iPhone 4", "Galaxy S", "Lumia 520")
WIDTHS = (0, 320, 800, 1024, 1280, 1366, 1638, 1920, 2560)
REFERER_HASH, URL_HASH = 3594120000172545465, 2868770270353813622
"""Those that two queries ask for."""

FIRST, LAST = datetime(2013, 7, 1), datetime(2013, 7, 31, 23, 59, 59)

Whole = NDArray[np.int64]


def settings() -> dict[str, Any]:
    """Return what a catalog says of the table, as arguments of `declare`."""
    return {
        "unit": "UserID",
        "rows_per_unit": MOST_HITS,
        "bounds": {
            "AdvEngineID": (0, 63),
            "ResolutionWidth": (0, 4000),
            "IsRefresh": (0, 1),
            "EventDate": (FIRST.date(), LAST.date()),
        },
    }


@cache
def tables() -> Mapping[str, pa.Table]:
    """Return the table; the same rows each time."""
    random = np.random.default_rng(2013)
    hits = np.minimum(random.zipf(1.6, USERS), MOST_HITS)
    users = np.repeat(random.integers(2**40, 2**62, USERS), hits)
    size = len(users)

    def few(count: int) -> Whole:
        """Return numbers below a count, of which the first are much more frequent."""
        return np.minimum(random.zipf(1.3, size) - 1, random.integers(0, count, size))

    page, referer, phrase = few(PAGES), few(PAGES), few(PHRASES)
    seconds = random.integers(0, int((LAST - FIRST).total_seconds()) + 1, size)
    times = np.datetime64(FIRST, "us") + seconds.astype("timedelta64[s]")
    model = np.minimum(few(len(MODELS)), len(MODELS) - 1)
    has_phrase = random.random(size) < 0.5
    columns: dict[str, Any] = {
        "WatchID": np.arange(size) + 2**50,
        "Title": [f"Google page {each}" if each % 4 == 0 else f"Page {each}" for each in page],
        "EventTime": times,
        "EventDate": times.astype("datetime64[D]"),
        "CounterID": np.where(random.random(size) < 0.5, 62, few(30)).astype(np.int32),
        "ClientIP": (few(ADDRESSES) * 7919 - 2**30).astype(np.int32),
        "RegionID": few(80).astype(np.int32),
        "UserID": users,
        "URL": [_address(each) if each % 9 else "" for each in page],
        "Referer": [_address(each) if each % 5 else "" for each in referer],
        "IsRefresh": _flags(random.random(size) < 0.1),
        "ResolutionWidth": _one_of(WIDTHS, few(len(WIDTHS))),
        "AdvEngineID": np.where(random.random(size) < 0.7, 0, few(60)).astype(np.int16),
        "TraficSourceID": (few(8) - 1).astype(np.int16),
        "SearchEngineID": np.where(has_phrase, few(20), 0).astype(np.int16),
        "SearchPhrase": [
            f"how to {number}" if is_there else ""
            for number, is_there in zip(phrase, has_phrase, strict=True)
        ],
        "MobilePhone": model.astype(np.int16),
        "MobilePhoneModel": [MODELS[each] for each in model],
        "IsLink": _flags(random.random(size) < 0.3),
        "IsDownload": _flags(random.random(size) < 0.1),
        "DontCountHits": _flags(random.random(size) < 0.1),
        "RefererHash": np.where(referer < 3, REFERER_HASH, referer * 104_729),
        "URLHash": np.where(page < 2, URL_HASH, page * 1_299_709),
        "WindowClientWidth": _one_of(WIDTHS, few(len(WIDTHS))),
        "WindowClientHeight": _one_of(WIDTHS, few(len(WIDTHS))),
    }
    return {"hits": pa.table({name: pa.array(values) for name, values in columns.items()})}


def _address(page: int) -> str:
    return f"http{'s' * (page % 2)}://{SITES[page % len(SITES)]}/{'path/' * (page % 4)}{page}"


def _flags(values: NDArray[np.bool_]) -> NDArray[np.int16]:
    return values.astype(np.int16)


def _one_of(values: Sequence[int], places: Whole) -> NDArray[np.int16]:
    return np.array(values, np.int16)[np.minimum(places, len(values) - 1)]
