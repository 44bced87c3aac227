"""Which column identifies people, and which ones number things, by their names alone."""

import re

from discreet.catalog.schema import Column

PEOPLE = tuple(
    """
    patient person user customer client member subject participant respondent employee student
    citizen voter pupil worker passenger driver rider donor visitor guest player resident tenant
    applicant borrower policyholder beneficiary household family subscriber account device
    """.split()  # noqa: SIM905 - fifty lines shorter
)
"""Words for people in names of columns, the most likely unit first."""

NUMBERS = ("id", "no", "nr", "num", "number", "key", "uuid", "guid", "hash", "pseudonym")
"""Words that stand beside a word for people in the name of a column that identifies them."""

OWN_NAMES = ("usubjid", "subjid", "mrn", "ssn", "nhsnumber", "msisdn", "imei", "email", "uid")
"""Names of columns that identify people without a word for them."""

ROW_NAMES = re.compile(r"unnamed: ?\d+|row_?(names?|id|num|number)|index|rownames", re.IGNORECASE)
"""Names of columns that number the rows, of pandas and R among others."""


def unit_guess(table: str, columns: tuple[Column, ...]) -> str | None:
    """Return the column that most likely identifies people, by its name; None if none does."""
    words = {each.name: _words(each.name) for each in columns if not ROW_NAMES.fullmatch(each.name)}
    for fits in (_is_exactly, _is_among):
        for person in PEOPLE:
            found = next((name for name, each in words.items() if fits(each, person)), None)
            if found is not None:
                return found
    known = [name for name, each in words.items() if "".join(each) in OWN_NAMES]
    ids = [name for name, each in words.items() if len(each) > 1 and "id" in (each[0], each[-1])]
    # visit_id in a table of visits identifies rows, not people.
    own = [name for name in ids if _is_named_like(table, words[name])]
    others = [name for name in ids if name not in own]
    bare = [name for name, each in words.items() if each == ["id"]]
    return next(iter(known + others + own + bare), None)


def _is_exactly(words: list[str], person: str) -> bool:
    """Return whether a name is patient, patient_id or id_patient."""
    return words == [person] or (
        len(words) == 2 and person in words and bool({*words} & {*NUMBERS})
    )


def _is_among(words: list[str], person: str) -> bool:
    """Return whether a name is like customer_unique_id: with more words than a person's and id."""
    return person in words and bool({words[0], words[-1]} & {*NUMBERS})


def _is_named_like(table: str, words: list[str]) -> bool:
    return table.casefold().startswith("_".join(each for each in words if each != "id"))


def _words(name: str) -> list[str]:
    """Return the words of a column's name, the same for patient_id, patientId and PatientID."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    words = [word for word in re.split(r"[^a-z0-9]+", parted) if word]
    if len(words) == 1 and (found := re.fullmatch(r"([a-z]{3,}?)(id|no|nr)", words[0])):
        words = [found[1], found[2]] if found[1] in PEOPLE else words
    return words


def is_identifier(name: str) -> bool:
    """Return whether a column only identifies things or rows, by its name: nobody sums these."""
    return "id" in _words(name)[-1:] or ROW_NAMES.fullmatch(name) is not None
