"""Series: charts that go on for years on one payment.

A series is declared in the catalog. It is charged once, in full, before its first tick is released.
Each tick is released once and saved; reading it is free for ever after, and gives the same numbers.

definition      what a ledger stores of a series, from which all of it can be read again
explaining      cost, state and margins of a series, before and after it is charged
reading         released ticks as people read them: running totals, single ticks, windows, margins
series          charging, releasing the ticks that are due, reading
"""

from typing import TYPE_CHECKING

from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.answer.series_table import SeriesStatus
    from discreet.series.series import Series, SeriesKeeper, SeriesReader, explain_all

__all__ = ["Series", "SeriesKeeper", "SeriesReader", "SeriesStatus", "explain_all"]

_MODULES = {
    "discreet.answer.series_table": "SeriesStatus",
    "series": "Series SeriesKeeper SeriesReader explain_all",
}
"""The modules, and the public names that each gives."""

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)
