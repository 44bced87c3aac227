"""The secret that an attacker tries to guess: a condition on one column, true of about half."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.attacks.wording import literal, quoted
from discreet.catalog import Value


class Relation(Enum):
    """How a column is compared with a value."""

    EQUALS = "="
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The condition that a column is true, equals a value, or is at least a value."""

    column: str
    relation: Relation = Relation.EQUALS
    value: Value = True

    @property
    def sql(self) -> str:
        """The condition as SQL."""
        if self.value is True:
            return quoted(self.column)
        return f"{quoted(self.column)} {self.relation.value} {literal(self.value)}"

    def holds(self, table: pa.Table) -> NDArray[np.bool_]:
        """Return for each row whether the condition is true."""
        column = table.column(self.column)
        value = pa.scalar(self.value, column.type)
        test = pc.equal if self.relation is Relation.EQUALS else pc.greater_equal
        return np.asarray(test(column, value).to_numpy(zero_copy_only=False), np.bool_)
