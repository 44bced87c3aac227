"""multi-freq-ldpy: one person for each call of the client; servers estimate non-negative shares."""

from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles import (  # type: ignore[import-not-found]  # lives in its own environment
    GRR,
    LH,
    SS,
    UE,
)

from benchmarks.local_cases import EPSILON, SURVEYS, Survey, line_from, measure


def halves(survey: Survey) -> tuple[Any, Any]:
    """Return the library's client and aggregator."""
    k, e = survey.categories, EPSILON
    match survey.protocol:
        case "k-ary":
            return (
                lambda value: GRR.GRR_Client(value, k, e),
                lambda reports: GRR.GRR_Aggregator_MI(reports, k, e),
            )
        case "subset":
            return (
                lambda value: SS.SS_Client(value, k, e),
                lambda reports: SS.SS_Aggregator_MI(reports, k, e),
            )
        case "OLH":
            return (
                lambda value: LH.LH_Client(value, k, e, True),
                lambda reports: LH.LH_Aggregator_MI(reports, k, e, True),
            )
        case _:
            is_optimal = survey.protocol == "OUE"
            return (
                lambda value: UE.UE_Client(value, k, e, is_optimal),
                lambda reports: UE.UE_Aggregator_MI(reports, e, is_optimal),
            )


def tell(survey: Survey) -> None:
    """Measure one survey and write a line about it."""
    client, aggregate = halves(survey)

    def report(held: Any) -> list[Any]:
        return [client(each) for each in held.tolist()]

    def count(reports: list[Any], people: int) -> Any:
        return np.array(aggregate(reports), float) * people

    report(np.zeros(1, np.int64))  # compiles
    print(line_from(measure(survey, report, count)), flush=True)


if __name__ == "__main__":
    for each in SURVEYS:
        if each.protocol != "Hadamard" and each.people == SURVEYS[0].people:
            tell(each)
