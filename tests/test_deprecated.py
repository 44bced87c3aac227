"""Old names and modules: what replaces them is loaded on use, with a warning."""

import sys
from importlib import import_module
from types import ModuleType

import pytest

from discreet.deprecated import deprecated_modules, deprecated_names, warn_renamed


def test_an_old_name_warns_where_it_is_used() -> None:
    module = ModuleType("here")
    module.__getattr__ = deprecated_names("here", {"Old": "fractions.Fraction"})  # type: ignore[method-assign]
    with pytest.warns(
        DeprecationWarning, match=r"^here.Old is deprecated, use fractions.Fraction$"
    ) as seen:
        assert module.Old(1, 2).denominator == 2
    assert seen[0].filename == __file__
    with pytest.raises(AttributeError, match="module 'here' has no attribute 'other'"):
        module.other  # noqa: B018 - it is looked up


def test_a_moved_module_is_imported_by_its_old_path(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("moved_once", "moved_once.inside"):
        monkeypatch.setitem(sys.modules, path, ModuleType("to be replaced"))
        del sys.modules[path]
    deprecated_modules(
        {
            "moved_once": {"half": "fractions.Fraction", "*": "math"},
            "moved_once.inside": {"old": "math.pi"},
        }
    )
    module = import_module("moved_once")
    with pytest.warns(
        DeprecationWarning, match="moved_once.floor is deprecated, use math.floor"
    ) as seen:
        assert module.floor(1.5) == 1
    assert seen[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="use fractions.Fraction"):
        assert module.half(1).numerator == 1
    with pytest.warns(DeprecationWarning, match="use math.pi"):
        assert module.inside.old > 3
    for missing in ("nothing", "__nothing__"):
        with pytest.raises(AttributeError):
            getattr(module.inside, missing)
    with pytest.raises(AttributeError):
        module.nothing  # noqa: B018 - it is looked up


def test_a_renamed_method_warns_where_it_is_called() -> None:
    def old() -> None:
        warn_renamed("old", "new")

    with pytest.warns(DeprecationWarning, match="old is deprecated, use new") as seen:
        old()
    assert seen[0].filename == __file__
