"""Made-up people, each with a secret bit that an attacker is after."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

TABLE, UNIT, SECRET = "people", "person", "secret"


@dataclass(frozen=True, slots=True)
class People:
    """A table of people, one row each, numbered from 0, with one secret truth value."""

    table: pa.Table

    @property
    def secrets(self) -> NDArray[np.bool_]:
        """What the attacker is after, by number of person."""
        return np.asarray(self.table.column(SECRET).to_numpy(zero_copy_only=False), np.bool_)

    def __len__(self) -> int:
        return int(self.table.num_rows)
