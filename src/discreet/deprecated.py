"""Old names that still work: each use gives a DeprecationWarning that says what to write instead.

Names of a module go through its `__getattr__`. Modules that moved are entries in `sys.modules`, so
no file stays behind for them.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from warnings import warn

ALL_OTHERS = "*"
"""In a table of names: the module that all other names of an old module are in now."""


def warn_renamed(old: str, new: str, *, stacklevel: int = 2) -> None:
    """Warn the caller of the function that calls this one: `old` is now `new`."""
    warn(f"{old} is deprecated, use {new}", DeprecationWarning, stacklevel=stacklevel + 1)


def deprecated_names(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` for a module. `names` maps old names to what replaces them.

    A replacement is a dotted path, such as "discreet.local.Client". It is loaded when it is used.
    """

    def found(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_renamed(f"{module}.{name}", names[name])
        return _loaded(names[name])

    return found


def deprecated_modules(modules: Mapping[str, Mapping[str, str]]) -> None:
    """Let modules that moved be imported by their old paths.

    Each maps its old names to what replaces them, and "*" to the module of all other names.
    """
    for path, names in modules.items():
        module = _MovedModule(path, names)
        sys.modules.setdefault(path, module)
        parent, _, name = path.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], name, module)


class _MovedModule(ModuleType):
    """A module whose names are elsewhere now."""

    def __init__(self, path: str, names: Mapping[str, str]) -> None:
        super().__init__(path, f"Moved to {names.get(ALL_OTHERS, 'other modules')}.")
        self._names = dict(names)

    def __getattr__(self, name: str) -> object:
        home = self._names.get(ALL_OTHERS)
        if name == "__all__":
            others = [each for each in vars(import_module(home)) if each[0] != "_"] if home else []
            return [*(each for each in self._names if each != ALL_OTHERS), *others]
        if name.startswith("__"):
            raise AttributeError(name)
        new = self._names.get(name) or (f"{home}.{name}" if home else None)
        if new is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = _loaded(new)
        warn_renamed(f"{self.__name__}.{name}", new)
        return value


def _loaded(path: str) -> object:
    if path in sys.modules:
        return sys.modules[path]
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
