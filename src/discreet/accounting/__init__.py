"""Privacy accounting: events, their costs, and budgets."""

from typing import TYPE_CHECKING

from discreet.accounting.compose import ComposedPrice, compose
from discreet.deprecated import deprecated_names
from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.accounting.approximate import (
        advanced_epsilon,
        approximate_epsilon,
        basic_cost,
        heterogeneous_epsilon,
        optimal_epsilon,
    )
    from discreet.accounting.budget import Budget, Charge, Filter, Remaining
    from discreet.accounting.calibration import (
        analytic_gaussian_multiplier,
        calibrate,
        classical_gaussian_multiplier_squared,
    )
    from discreet.accounting.events import (
        ApproximateEvent,
        ComposedEvent,
        ConcentratedEvent,
        DiscreteGaussianEvent,
        DiscreteLaplaceEvent,
        Event,
        ExponentialEvent,
        FixedSampleEvent,
        GaussianEvent,
        LaplaceEvent,
        NoisyMaxEvent,
        PermuteAndFlipEvent,
        PoissonSampledEvent,
        PureEvent,
        RandomizedResponseEvent,
        RepeatedEvent,
        SparseVectorEvent,
        StaircaseEvent,
        event_from_record,
        record_from_event,
    )
    from discreet.accounting.gdp import gdp_delta, gdp_epsilon, gdp_mu_squared
    from discreet.accounting.groups import for_group
    from discreet.accounting.pld import pld_delta, pld_epsilon
    from discreet.accounting.pure import pure_epsilon
    from discreet.accounting.rdp import epsilon_from_rdp, rdp_epsilon
    from discreet.accounting.zcdp import epsilon_from_rho, rho_for_budget, zcdp_rho

__all__ = [
    "ApproximateEvent",
    "Budget",
    "Charge",
    "ComposedEvent",
    "ComposedPrice",
    "ConcentratedEvent",
    "DiscreteGaussianEvent",
    "DiscreteLaplaceEvent",
    "Event",
    "ExponentialEvent",
    "Filter",
    "FixedSampleEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "NoisyMaxEvent",
    "PermuteAndFlipEvent",
    "PoissonSampledEvent",
    "PureEvent",
    "RandomizedResponseEvent",
    "Remaining",
    "RepeatedEvent",
    "SparseVectorEvent",
    "StaircaseEvent",
    "advanced_epsilon",
    "analytic_gaussian_multiplier",
    "approximate_epsilon",
    "basic_cost",
    "calibrate",
    "classical_gaussian_multiplier_squared",
    "compose",
    "epsilon_from_rdp",
    "epsilon_from_rho",
    "event_from_record",
    "for_group",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu_squared",
    "heterogeneous_epsilon",
    "optimal_epsilon",
    "pld_delta",
    "pld_epsilon",
    "pure_epsilon",
    "rdp_epsilon",
    "record_from_event",
    "rho_for_budget",
    "zcdp_rho",
]

_MODULES = {
    "approximate": (
        "advanced_epsilon approximate_epsilon basic_cost heterogeneous_epsilon optimal_epsilon"
    ),
    "budget": "Budget Charge Filter Remaining",
    "calibration": "analytic_gaussian_multiplier calibrate classical_gaussian_multiplier_squared",
    "events": (
        "ApproximateEvent ComposedEvent ConcentratedEvent DiscreteGaussianEvent "
        "DiscreteLaplaceEvent Event ExponentialEvent FixedSampleEvent GaussianEvent "
        "LaplaceEvent NoisyMaxEvent PermuteAndFlipEvent PoissonSampledEvent PureEvent "
        "RandomizedResponseEvent RepeatedEvent SparseVectorEvent StaircaseEvent "
        "event_from_record record_from_event"
    ),
    "gdp": "gdp_delta gdp_epsilon gdp_mu_squared",
    "groups": "for_group",
    "pld": "pld_delta pld_epsilon",
    "pure": "pure_epsilon",
    "rdp": "epsilon_from_rdp rdp_epsilon",
    "zcdp": "epsilon_from_rho rho_for_budget zcdp_rho",
}
"""The modules, and the public names that each gives."""

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Price": "discreet.accounting.ComposedPrice",
        },
        names_of(__name__, _MODULES),
    )
