"""The pages of the website that lie beside docs, with links as they are there."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {"README.md": "overview.md", "sample_data/README.md": "samples.md"}
LINK = re.compile(r"(!?\[([^\]]*)\]\()(?!https?:|mailto:|#)([^)#\s]+)([^)]*\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the README and what the samples hold."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text()
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Have every link lead to where its file is on the website; else it is text."""
    here = page.file.src_uri
    beside = {name: source for source, name in PAGES.items()}
    source = beside.get(here, f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.join(posixpath.dirname(source), link[3])
        target = posixpath.normpath(target)
        if target not in PAGES and not target.startswith("docs/"):
            return link[2]
        there = PAGES.get(target, target.removeprefix("docs/"))
        there = posixpath.relpath(there, posixpath.dirname(here) or ".")
        return f"{link[1]}{there}{link[4]}"

    return LINK.sub(moved, markdown)
