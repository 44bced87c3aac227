"""What MkDocs does besides: the list of changes becomes a page of the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

CHANGES = Path(__file__).parent.parent / "CHANGELOG.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add CHANGELOG.md, which stays at the root of the repository, to the pages."""
    text = CHANGES.read_text(encoding="utf-8")
    files.append(File.generated(config, "reference/changelog.md", content=text))
    return files
