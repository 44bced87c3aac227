"""pure-ldp: one person for each call, on both sides."""

from typing import Any

import numpy as np
from pure_ldp.frequency_oracles import (  # type: ignore[import-not-found]  # lives in its own environment
    direct_encoding,
    hadamard_response,
    local_hashing,
    unary_encoding,
)

from benchmarks.local_cases import EPSILON, SURVEYS, Survey, line_from, measure


def halves(survey: Survey) -> tuple[Any, Any]:
    """Return the library's client and a new server."""
    k = {"epsilon": EPSILON, "d": survey.categories}
    match survey.protocol:
        case "k-ary":
            return direct_encoding.DEClient(**k), direct_encoding.DEServer(**k)
        case "SUE" | "OUE":
            k["use_oue"] = survey.protocol == "OUE"
            return unary_encoding.UEClient(**k), unary_encoding.UEServer(**k)
        case "OLH":
            k["use_olh"] = True
            return local_hashing.LHClient(**k), local_hashing.LHServer(**k)
        case _:
            server = hadamard_response.HadamardResponseServer(EPSILON, survey.categories)
            functions = server.get_hash_funcs()
            client = hadamard_response.HadamardResponseClient(EPSILON, survey.categories, functions)
            return client, server


def tell(survey: Survey) -> None:
    """Measure one survey and write a line about it."""
    values = range(1, survey.categories + 1)
    client, _ = halves(survey)

    def count(reports: list[Any], _: int) -> Any:
        server = halves(survey)[1]
        for each in reports:
            server.aggregate(each)
        return np.array(server.estimate_all(values, suppress_warnings=True), float)

    def report(held: Any) -> list[Any]:
        return [client.privatise(each) for each in (held + 1).tolist()]

    print(line_from(measure(survey, report, count)), flush=True)


if __name__ == "__main__":
    for each in SURVEYS:
        if each.protocol != "subset" and each.people == SURVEYS[0].people:
            tell(each)
