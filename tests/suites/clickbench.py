"""The table of ClickBench, with the columns that its queries read, and the user as unit.

The rows are our own: some thousand users of whom few have many hits, on pages of which few are
seen by many.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tests.suites.drawing import Draw

USERS, PAGES, PHRASES, ADDRESSES = 3000, 400, 150, 2000
MOST_HITS = 20
"""Of a user."""

SITES = ("www.google.com", "mail.google.com", "yandex.ru", "www.example.org", "news.example.net")
MODELS = ("", "iPad", "iPhone 4", "Galaxy S", "Lumia 520")
WIDTHS = (0, 320, 800, 1024, 1280, 1366, 1638, 1920, 2560)
REFERER_HASH, URL_HASH = 3594120000172545465, 2868770270353813622
"""Those that two queries ask for."""

FIRST, LAST = datetime(2013, 7, 1), datetime(2013, 7, 31, 23, 59, 59)


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
    draw = Draw("clickbench")
    hits = 1 + draw.few(MOST_HITS, USERS)
    users = np.repeat(2**40 + np.arange(USERS) * 1_234_567_891, hits)
    size, widths = len(users), np.array(WIDTHS, np.int16)

    page, referer, phrase = draw.few(PAGES, size), draw.few(PAGES, size), draw.few(PHRASES, size)
    seconds = draw.many(int((LAST - FIRST).total_seconds()) + 1, size)
    times = np.datetime64(FIRST, "us") + seconds.astype("timedelta64[s]")
    model = draw.few(len(MODELS), size)
    has_phrase = draw.flags(0.5, size)
    columns: dict[str, Any] = {
        "WatchID": np.arange(size) + 2**50,
        "Title": [f"Google page {each}" if each % 4 == 0 else f"Page {each}" for each in page],
        "EventTime": times,
        "EventDate": times.astype("datetime64[D]"),
        "CounterID": np.where(draw.flags(0.5, size), 62, draw.few(30, size)).astype(np.int32),
        "ClientIP": (draw.few(ADDRESSES, size) * 7919 - 2**30).astype(np.int32),
        "RegionID": draw.few(80, size).astype(np.int32),
        "UserID": users,
        "URL": [_address(each) if each % 9 else "" for each in page],
        "Referer": [_address(each) if each % 5 else "" for each in referer],
        "IsRefresh": _flags(draw, 0.1, size),
        "ResolutionWidth": widths[draw.few(len(WIDTHS), size)],
        "AdvEngineID": np.where(draw.flags(0.7, size), 0, draw.few(60, size)).astype(np.int16),
        "TraficSourceID": (draw.few(8, size) - 1).astype(np.int16),
        "SearchEngineID": np.where(has_phrase, draw.few(20, size), 0).astype(np.int16),
        "SearchPhrase": [
            f"how to {number}" if is_there else ""
            for number, is_there in zip(phrase, has_phrase, strict=True)
        ],
        "MobilePhone": model.astype(np.int16),
        "MobilePhoneModel": [MODELS[each] for each in model],
        "IsLink": _flags(draw, 0.3, size),
        "IsDownload": _flags(draw, 0.1, size),
        "DontCountHits": _flags(draw, 0.1, size),
        "RefererHash": np.where(referer < 3, REFERER_HASH, referer * 104_729),
        "URLHash": np.where(page < 2, URL_HASH, page * 1_299_709),
        "WindowClientWidth": widths[draw.few(len(WIDTHS), size)],
        "WindowClientHeight": widths[draw.few(len(WIDTHS), size)],
    }
    return {"hits": pa.table({name: pa.array(values) for name, values in columns.items()})}


def _address(page: int) -> str:
    return f"http{'s' * (page % 2)}://{SITES[page % len(SITES)]}/{'path/' * (page % 4)}{page}"


def _flags(draw: Draw, probability: float, size: int) -> NDArray[np.int16]:
    return draw.flags(probability, size).astype(np.int16)
