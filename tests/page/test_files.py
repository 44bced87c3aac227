"""What ships with the package: the bundle that make page makes, small, and from nowhere else."""

import gzip
import re
from pathlib import Path

import pytest

from discreet.server.page import FILES, POLICY
from tests.page.libraries import FOLDER, ROOT, build
from tests.server.running import Served

PAGE = ROOT / "src" / "discreet" / "page"
MOST_BYTES = 300_000


def test_the_bundle_is_what_make_page_makes(tmp_path: Path) -> None:
    build(tmp_path)
    made = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert made == {each.name: each.read_bytes() for each in (PAGE / "vendor").iterdir()}


def test_the_lock_file_names_no_address() -> None:
    assert '"resolved"' not in (FOLDER / "package-lock.json").read_text()


def test_the_page_is_small() -> None:
    sent = sum(len(gzip.compress(each.read_bytes())) for each in PAGE.rglob("*") if each.is_file())
    licences = len(gzip.compress((PAGE / "vendor" / "LICENSES.txt").read_bytes()))
    assert sent - licences < MOST_BYTES


def test_every_file_of_the_page_is_served_and_packaged() -> None:
    found = {str(each.relative_to(PAGE)) for each in PAGE.rglob("*") if each.is_file()}
    assert found == set(FILES)


@pytest.mark.parametrize("path", sorted(each for each in FILES if "vendor" not in each))
def test_our_own_files_load_nothing_from_elsewhere_and_write_no_markup(path: str) -> None:
    text = FILES[path].content.decode()
    allowed = r"http://www\.w3\.org/\d{4}/svg"
    assert not re.search(rf"(?:https?:)?//(?!{allowed[7:]})[a-z0-9-]+\.[a-z]{{2,}}", text)
    for each in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "dangerouslySetInnerHTML",
        "eval(",
    ):
        assert each not in text


@pytest.mark.parametrize("path", sorted(each for each in FILES if each.startswith("js/")))
def test_modules_import_files_that_exist(path: str) -> None:
    for each in re.findall(r'(?:from|import\()\s*"([^"]+)"', FILES[path].content.decode()):
        assert each.startswith("/page/")
        assert each.removeprefix("/page/") in FILES


def test_pages_have_a_strict_policy_and_are_asked_for_again_by_their_tag(clinic: Served) -> None:
    for path in ("/", "/data", "/learn/two-neighbours", "/answers/clinic/abc", "/page/js/main.js"):
        reply = clinic.call("GET", path, None)
        assert reply.status_code == 200
        assert reply.headers["content-security-policy"] == POLICY
        assert "unsafe" not in POLICY
        again = clinic.call("GET", path, None, headers={"If-None-Match": reply.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/page/../pyproject.toml", "/page/%2e%2e/errors.py", "/page//etc/passwd", "/page/"]
)
def test_nothing_but_files_of_the_page_is_served(clinic: Served, path: str) -> None:
    assert clinic.call("GET", path, None).status_code == 404
