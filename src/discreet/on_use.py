"""Names that are loaded when they are first used, so that nothing loads what it does not need.

A package that lists its public names here imports none of its modules itself: `from package import
name` loads the module of that name alone. Where even that is too early, since few calls need it,
code imports the package and writes `package.name` where it is used. mypy reads the same names from
the imports under TYPE_CHECKING.

Parts of other libraries that take longer to load than most queries take are names of this module:
code writes `on_use.special.ndtr(x)`.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow import compute as compute  # noqa: PLC0414 - for others
    from pyarrow import parquet as parquet  # noqa: PLC0414
    from scipy import fft as fft  # noqa: PLC0414
    from scipy import special as special  # noqa: PLC0414
    from sqlglot.dialects import bigquery as bigquery  # noqa: PLC0414
    from sqlglot.dialects import postgres as postgres  # noqa: PLC0414

LIBRARIES = {
    "bigquery": "sqlglot.dialects.bigquery",
    "compute": "pyarrow.compute",
    "fft": "scipy.fft",
    "parquet": "pyarrow.parquet",
    "postgres": "sqlglot.dialects.postgres",
    "special": "scipy.special",
}


def names_of(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` for a package: each module, and the names that it gives.

    A module without names stands for itself. One of another package has its whole path.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def found(name: str) -> object:
        if name in homes:
            home = homes[name]
            home = home if home.startswith("discreet.") else f"{package}.{home}"
            value = getattr(import_module(home), name)
        elif modules.get(name) == "":
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    return found


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a library when it is first used."""
        if name not in LIBRARIES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = import_module(LIBRARIES[name])
        globals()[name] = found
        return found
