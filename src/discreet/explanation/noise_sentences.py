"""Sentences on noise: why it is this noise, and how a mechanism selects a value."""

from discreet.amounts import number_text
from discreet.explanation.sentences import brief, rank_name
from discreet.query import noise_reasons
from discreet.query.questions import Aggregate, Statistic


def noise_sentence(reason: noise_reasons.NoiseReason) -> str:
    """Return why it is this noise."""
    match reason:
        case noise_reasons.NoDelta():
            return "Gaussian noise would need a δ, and this query has none."
        case noise_reasons.UnknownGroups():
            return "Gaussian noise would need to know the number of groups in advance."
        case noise_reasons.NotDrawable() | noise_reasons.LaplaceNarrower(ratio=None):
            return "Gaussian noise cannot be drawn at this ε and δ."
        case noise_reasons.LaplaceNarrower(ratio=ratio):
            return f"With Gaussian noise, margins of error would be {ratio:.2g} times as wide."
        case noise_reasons.GaussianNarrower(ratio=ratio, rho=rho):
            alike = "" if rho is None else f", which costs as much: ρ = {brief(rho)}"
            return f"Margins of error are {ratio:.2g} times as wide as with Laplace noise{alike}."
        case _:
            return ""


def choice_sentence(aggregate: Aggregate, support: int | None = None) -> str:
    """Return how a mechanism selects a value, and how many rows a value needs."""
    if aggregate.statistic is Statistic.MODE:
        return "It picks a value, and frequent values are more likely."
    picks = f"It picks a value, and values near {rank_name(aggregate)} are more likely."
    if support is None:
        return picks
    least = number_text(support)
    return (
        f"{picks} An interval that holds the exact value comes with it. The value is NULL below "
        f"about {least} rows, by a noisy count."
    )
