"""Old names and modules: what replaces them is loaded on use, with a warning."""

import sys
import warnings
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Self

import pytest

from discreet.deprecated import (
    Renamed,
    deprecated_modules,
    deprecated_names,
    private_names,
    renamed_arguments,
    warn_renamed,
)


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


@renamed_arguments(amount="epsilon")
@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A class with old names."""

    epsilon: int = 1

    @classmethod
    def of(cls, epsilon: int) -> Self:
        return cls(epsilon=epsilon)

    def times(self, many: int) -> int:
        return self.epsilon * many

    amount = Renamed("epsilon")
    from_amount = Renamed("of")
    multiplied = Renamed("times")


class Choice(Enum):
    """An enum with an old name."""

    ONCE = "once"
    if not TYPE_CHECKING:
        PREPARED = Renamed("ONCE")


def test_old_members_of_a_class_give_the_new_ones() -> None:
    cost = Cost(epsilon=2)
    with pytest.warns(DeprecationWarning, match="^Cost.amount is deprecated, use Cost.epsilon$"):
        assert cost.amount == 2
    with pytest.warns(DeprecationWarning, match="Cost.multiplied is deprecated, use Cost.times"):
        assert cost.multiplied(3) == 6
    with pytest.warns(DeprecationWarning, match="Cost.multiplied"):
        assert Cost.multiplied(cost, many=3) == 6
    with pytest.warns(DeprecationWarning, match="Cost.from_amount") as seen:
        assert Cost.from_amount(2) == cost
    assert seen[0].filename == __file__
    assert repr(cost) == "Cost(epsilon=2)"
    assert hash(cost) == hash(Cost(epsilon=2))


def test_an_old_member_of_an_enum_is_no_further_member() -> None:
    with pytest.warns(DeprecationWarning, match="Choice.PREPARED is deprecated, use Choice.ONCE"):
        assert getattr(Choice, "PREPARED") is Choice.ONCE  # noqa: B009 - mypy knows none
    assert list(Choice) == [Choice.ONCE]


def test_an_old_argument_of_a_constructor_is_taken() -> None:
    with pytest.warns(DeprecationWarning, match=r"Cost\(amount=\) is deprecated, use ") as seen:
        assert Cost(amount=2) == Cost(epsilon=2)  # type: ignore[call-arg]
    assert seen[0].filename == __file__
    with pytest.raises(TypeError, match="'other'"):
        Cost(other=2)  # type: ignore[call-arg]


def test_a_name_that_is_private_now_warns() -> None:
    module = ModuleType("here")
    module.__getattr__ = private_names("here", {"pi": "math.pi"})  # type: ignore[method-assign]
    with pytest.warns(DeprecationWarning, match="here.pi is not public any more") as seen:
        assert module.pi > 3
    assert seen[0].filename == __file__
    with pytest.raises(AttributeError, match="module 'here' has no attribute 'other'"):
        module.other  # noqa: B018 - it is looked up


@pytest.mark.parametrize("name", ["discreet.catalog.BINS", "discreet.mechanisms.Noise"])
def test_an_import_from_a_package_warns_once(name: str) -> None:
    package, _, name = name.rpartition(".")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        exec(f"from {package} import {name}")  # noqa: S102 - what people wrote
    assert len(seen) == 1
