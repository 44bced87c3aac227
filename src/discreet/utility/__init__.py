"""The utility of answers, what they reveal, and which mechanism is best for which user.

Channels, priors and gains are exact, and so are all numbers computed from them. Only solvers of
linear programs use floats, and their results are used only with a proof in integer arithmetic.
"""

from typing import TYPE_CHECKING

from discreet.deprecated import deprecated_names
from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.utility.beliefs import (
        Refinement,
        belief_after,
        belief_after_counts,
        belief_bounds,
        event_bounds,
        mean_is_exact,
        posterior,
        refinement,
        world_bounds,
    )
    from discreet.utility.channels import Channel, ChannelMechanism, identity_channel
    from discreet.utility.designs import (
        Candidate,
        Comparison,
        Conflict,
        Design,
        compare_geometric,
        conflict,
        design,
    )
    from discreet.utility.guessing import (
        Remap,
        bayes_risk,
        best_guesses,
        best_remap,
        cautious_remap,
        expected_error,
        leakage,
        plain_utility,
        utility,
        vulnerability,
        worst_utility,
    )
    from discreet.utility.makers import (
        exponential_channel,
        geometric_channel,
        laplace_channel,
        local_channel,
        response_channel,
    )
    from discreet.utility.neighbours import (
        NeighbourGraph,
        answers_of,
        complete,
        cycle,
        graph_of,
        histograms,
        path,
        sums,
    )
    from discreet.utility.optimal import Method, Optimum, has_closed_form, optimal_mechanism
    from discreet.utility.priors import (
        Belief,
        Gain,
        Prior,
        binomial,
        empirical,
        gain_over,
        independent,
        threshold_gain,
        uniform,
    )

__all__ = [
    "Belief",
    "Candidate",
    "Channel",
    "ChannelMechanism",
    "Comparison",
    "Conflict",
    "Design",
    "Gain",
    "Method",
    "NeighbourGraph",
    "Optimum",
    "Prior",
    "Refinement",
    "Remap",
    "answers_of",
    "bayes_risk",
    "belief_after",
    "belief_after_counts",
    "belief_bounds",
    "best_guesses",
    "best_remap",
    "binomial",
    "cautious_remap",
    "compare_geometric",
    "complete",
    "conflict",
    "cycle",
    "design",
    "empirical",
    "event_bounds",
    "expected_error",
    "exponential_channel",
    "gain_over",
    "geometric_channel",
    "graph_of",
    "has_closed_form",
    "histograms",
    "identity_channel",
    "independent",
    "laplace_channel",
    "leakage",
    "local_channel",
    "mean_is_exact",
    "optimal_mechanism",
    "path",
    "plain_utility",
    "posterior",
    "refinement",
    "response_channel",
    "sums",
    "threshold_gain",
    "uniform",
    "utility",
    "vulnerability",
    "world_bounds",
    "worst_utility",
]

_MODULES = {
    "beliefs": (
        "Refinement belief_after belief_after_counts belief_bounds event_bounds "
        "mean_is_exact posterior refinement world_bounds"
    ),
    "channels": "Channel ChannelMechanism identity_channel",
    "designs": "Candidate Comparison Conflict Design compare_geometric conflict design",
    "guessing": (
        "Remap bayes_risk best_guesses best_remap cautious_remap expected_error leakage "
        "plain_utility utility vulnerability worst_utility"
    ),
    "makers": (
        "exponential_channel geometric_channel laplace_channel local_channel response_channel"
    ),
    "neighbours": "NeighbourGraph answers_of complete cycle graph_of histograms path sums",
    "optimal": "Method Optimum has_closed_form optimal_mechanism",
    "priors": "Belief Gain Prior binomial empirical gain_over independent threshold_gain uniform",
}
"""The modules, and the public names that each gives."""

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Graph": "discreet.utility.NeighbourGraph",
        },
        names_of(__name__, _MODULES),
    )
