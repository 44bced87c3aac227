"""Ask a made-up group of clinics from Python: run it with `python examples/clinic.py`."""
# ruff: noqa: T201 - an example prints

from pathlib import Path
from tempfile import TemporaryDirectory

import discreet
from discreet.demo import write_clinic
from discreet.errors import DiscreetError


def main() -> None:
    """Ask three questions: by price, by accuracy, and one that is refused."""
    with TemporaryDirectory() as folder, discreet.open(write_clinic(Path(folder))) as clinic:
        by_region = "SELECT region, COUNT(*) AS visits, AVG(age) AS age FROM visits GROUP BY region"
        print(clinic.explain(by_region, epsilon=0.5).price)

        answer = clinic.ask(by_region, epsilon=0.5)
        print(answer)
        print(answer.rows[0], answer.margins["visits"][0])

        smokers = "SELECT COUNT(*) AS smokers FROM patients WHERE smokes"
        print(clinic.ask(smokers, within=50, confidence=0.99))

        try:
            clinic.ask("SELECT * FROM patients", epsilon=0.5)
        except DiscreetError as refusal:
            print(refusal)
        print(clinic.remaining)


if __name__ == "__main__":
    main()
