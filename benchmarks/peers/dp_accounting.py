"""dp-accounting (Google): epsilon and CPU time by its PLD and its RDP accountant."""

from collections.abc import Callable
from dataclasses import asdict
from json import dumps

import dp_accounting
from dp_accounting import dp_event, pld, rdp

from benchmarks.compositions import WORKLOADS, Part, Workload
from benchmarks.pricing import make_pricing

EVENTS: dict[str, Callable[[float], dp_accounting.DpEvent]] = {
    "gaussian": dp_accounting.GaussianDpEvent,
    "laplace": lambda epsilon: dp_accounting.LaplaceDpEvent(1 / epsilon),
    "discrete laplace": lambda epsilon: dp_event.DiscreteLaplaceDpEvent(epsilon, 1),
}
ACCOUNTANTS: dict[str, Callable[[], dp_accounting.PrivacyAccountant]] = {
    "PLD": pld.PLDAccountant,
    "RDP": rdp.RdpAccountant,
}


def tell() -> None:
    """Write one line of JSON for each workload and accountant."""
    for workload in WORKLOADS:
        for name, make in ACCOUNTANTS.items():
            print(dumps(asdict(make_pricing(workload, name, _price(workload, make)))), flush=True)


def _price(
    workload: Workload, make: Callable[[], dp_accounting.PrivacyAccountant]
) -> Callable[[], float | None]:
    event = dp_accounting.ComposedDpEvent([_event(part) for part in workload.parts])
    delta = float(workload.delta)

    def price() -> float | None:
        try:
            return float(make().compose(event).get_epsilon(delta))
        except dp_accounting.UnsupportedEventError:
            return None

    return price


def _event(part: Part) -> dp_accounting.DpEvent:
    return dp_accounting.SelfComposedDpEvent(EVENTS[part.law](float(part.parameter)), part.count)


if __name__ == "__main__":
    tell()
