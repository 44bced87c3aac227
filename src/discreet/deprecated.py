"""Old names that still work: each use gives a DeprecationWarning that says what to write instead.

Names of a module go through its `__getattr__`, members of a class through the descriptor `Renamed`,
arguments of a constructor through `renamed_arguments`. Modules that moved are entries in
`sys.modules`, so no file stays behind for them.
"""

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar
from warnings import warn

Kind = TypeVar("Kind")

ALL_OTHERS = "*"
"""In a table of names: the module that all other names of an old module are in now."""


def warn_renamed(old: str, new: str, *, stacklevel: int = 2) -> None:
    """Warn the caller of the function that calls this one: `old` is now `new`."""
    warn(f"{old} is deprecated, use {new}", DeprecationWarning, stacklevel=stacklevel + 1)


class Renamed:
    """The old name of a method, property or member of an enum: `law = Renamed("distribution")`."""

    __slots__ = ("name", "new")

    def __init__(self, new: str) -> None:
        self.new = new
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        """Return what replaces the old name, bound as it would be."""
        value = getattr(owner if instance is None else instance, self.new)
        warn_renamed(f"{owner.__name__}.{self.name}", f"{owner.__name__}.{self.new}")
        return value


def renamed_arguments(**names: str) -> Callable[[type[Kind]], type[Kind]]:
    """Return a decorator: the constructor of a class takes old names of arguments, with a warning.

    Old names are mapped to new ones: `@renamed_arguments(bounding="row_choice")`.
    """

    def decorated(cls: type[Kind]) -> type[Kind]:
        made: Callable[..., None] = vars(cls)["__init__"]

        @wraps(made)
        def init(self: Kind, *args: object, **given: object) -> None:
            for old in names.keys() & given.keys():
                warn_renamed(f"{cls.__name__}({old}=)", f"{cls.__name__}({names[old]}=)")
                given[names[old]] = given.pop(old)
            made(self, *args, **given)

        setattr(cls, "__init__", init)  # noqa: B010 - mypy forbids it as an attribute
        return cls

    return decorated


def deprecated_names(
    module: str, names: Mapping[str, str], others: Callable[[str], object] | None = None
) -> Callable[[str], object]:
    """Return a `__getattr__` for a module. `names` maps old names to what replaces them.

    A replacement is a dotted path, such as "discreet.local.Client". It is loaded when it is used.
    `others` loads all other names, or raises AttributeError.
    """

    def found(name: str) -> object:
        if name in names:
            value = _loaded(names[name])
            if not _is_checked_by_import():
                warn_renamed(f"{module}.{name}", _advised(names[name]))
            return value
        if others is not None:
            return others(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return found


def private_names(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` for a module. `names` maps what is private now to its path."""

    def found(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if not _is_checked_by_import():
            text = f"{module}.{name} is not public any more and will be removed in 0.4."
            warn(text, DeprecationWarning, stacklevel=2)
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
        warn_renamed(f"{self.__name__}.{name}", _advised(new))
        return value


def _is_checked_by_import() -> bool:
    """Return whether `from package import name` looks if there is a name, before it takes it."""
    return sys._getframe(2).f_code.co_name == "_handle_fromlist"  # noqa: SLF001 - there is no other


def _advised(path: str) -> str:
    """Return what to write for a replacement: its public path, or what its module says instead."""
    module, _, name = path.rpartition(".")
    package = module.rpartition(".")[0]
    if name in getattr(sys.modules.get(package), "__all__", ()):
        return f"{package}.{name}"
    instead: Mapping[str, str] = getattr(sys.modules.get(module), "INSTEAD", {})
    return instead.get(name, path)


def _loaded(path: str) -> object:
    if path in sys.modules:
        return sys.modules[path]
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
