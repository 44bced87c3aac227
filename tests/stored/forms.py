"""What prepared copies and forms are kept under: the text of what decides which rows count."""

from pathlib import Path

from discreet.catalog.resolve import read
from discreet.opening.bounding_key import bounding_key
from discreet.opening.sources import form_of

CATALOGS = {
    "row": """
[tables.people]
from = "people.csv"
unit = "row"

[tables.clinics]
from = "clinics.csv"
public = true
key = "Clinic Id"
""",
    "column": """
[source]
version = "it's the second"

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 7
key = "visit_id"

[tables.visits.columns]
visit_id = { type = "integer" }
patient_id = { type = "text" }
cost = { type = "real", bounds = [0, 500] }
insured = { type = "boolean" }
day = { type = "date" }
"at" = { type = "timestamp" }
"At Home" = { type = "timestamp with time zone" }
""",
    "paths": """
[tables.patients]
from = "patients.csv"
unit = "person"
key = "Old Number"

[tables.patients.columns]
"Old Number" = { type = "integer" }

[tables.visits]
from = "visits.csv"
unit = "patients.person via patient"
rows_per_unit = 2

[tables.drugs]
from = "drugs.csv"
unit = 'visits.person via "Visit Ä"'

[tables.visits.columns]
patient = { type = "integer" }
note = { type = "text" }
""",
}


def texts(folder: Path) -> dict[str, dict[str, str]]:
    """Return for each catalog its text, and the key of its form over data of one state."""
    found = {}
    for name, text in CATALOGS.items():
        path = folder / f"{name}.toml"
        path.write_text(f"[budget]\nepsilon = 1\n{text}", encoding="utf-8")
        declared = read(path)
        form = form_of(declared, {each.name: each.name for each in declared.tables})
        assert form is not None
        found[name] = {
            "limits": bounding_key(declared),
            "form": form.key("the same state"),
            "family": form.family,
        }
    return found
