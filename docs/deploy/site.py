"""The pages of the website that lie beside docs, with links as they are there."""

import inspect
import posixpath
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {"README.md": "overview.md", "sample_data/README.md": "samples.md"}
API = "start/api.md"
ROOMS = (
    *("audits", "reports", "plots", "datasets", "metrics", "methods"),
    *("postprocessing", "sweep", "store", "jobs", "brought", "testing"),
)
LINK = re.compile(r"(!?\[([^\]]*)\]\()(?!https?:|mailto:|#)([^)#\s]+)([^)]*\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the README and what the samples hold."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text()
        files.append(File.generated(config, page, content=text))
    return files


def public_names(room: str) -> Iterator[str]:
    """Yield the classes and functions of ours that a room of the package offers."""
    module = import_module(f"fairdash.{room}")
    for name in getattr(module, "__all__", None) or dir(module):
        value = getattr(module, name)
        ours = getattr(value, "__module__", "").startswith("fairdash")
        if (
            ours
            and not name.startswith("_")
            and (inspect.isclass(value) or inspect.isfunction(value))
        ):
            yield f"fairdash.{room}.{name}"


def every_name(markdown: str) -> str:
    """Add what a room offers beside the names that a reader wants first."""
    for room in ROOMS:
        head = f"## fairdash.{room}\n"
        before, text, after = markdown.partition(head)
        page_text, line, rest = after.partition("\n## ")
        more = [f"::: {name}" for name in public_names(room)]
        more = [name for name in more if name not in page_text.splitlines()]
        page_text = "\n\n".join([page_text.rstrip(), *more]) + "\n"
        markdown = before + (text or f"\n{head}") + page_text + line + rest
    return markdown


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Have every link lead to where its file is on the website; else it is text."""
    page_uri = page.file.src_uri
    if page_uri == API:
        markdown = every_name(markdown)
    sources = {name: source for source, name in PAGES.items()}
    source = sources.get(page_uri, f"docs/{page_uri}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.join(posixpath.dirname(source), link[3])
        target = posixpath.normpath(target)
        if target not in PAGES and not target.startswith("docs/"):
            return link[2]
        destination = PAGES.get(target, target.removeprefix("docs/"))
        destination = posixpath.relpath(destination, posixpath.dirname(page_uri) or ".")
        return f"{link[1]}{destination}{link[4]}"

    return LINK.sub(moved, markdown)
