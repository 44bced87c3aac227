"""Groups by the key of a declared path: each is of the one unit that the key leads to.

The key names one row of a table, so all rows of its group have that row's unit. Below an aggregate
such groups are private rows, one for each unit and key.
"""

from collections.abc import Collection

from discreet.query.check.filtered_rows import Filtered, needed_rows
from discreet.query.check.keys import groups_of
from discreet.query.check.relations import Names, PublicReader
from discreet.query.questions import UndeclaredGroups
from discreet.query.tree import Expression


def are_of_one_unit(
    keys: Collection[Expression], filtered: Filtered, names: Names, public: PublicReader
) -> bool:
    """Return whether each group is of one unit, and its key is not declared."""
    if not any(names.is_of_one_unit(each) for each in keys):
        return False
    rows, _ = needed_rows(filtered, list(keys), [])
    return isinstance(groups_of(tuple(keys), names, public, rows), UndeclaredGroups)
