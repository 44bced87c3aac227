"""Files made for attacks on loading."""

from pathlib import Path


def written(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    """Write a file as it is given and return its path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
