"""A model card: the findings of a report as Markdown, with metadata for machines."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from fairdash import __version__
from fairdash._wording import Kpi, plain
from fairdash.reports._blocks import (
    Block,
    Cards,
    Code,
    Facts,
    Figure,
    Section,
    Table,
    Words,
)


def to_markdown(
    title: str,
    facts: Sequence[str],
    sections: Sequence[Section],
    note: str,
    results: Mapping[str, Any],
) -> str:
    """Return a model card in the Markdown and YAML of Hugging Face's hub.

    Title, facts, sections and note are as of a page; figures are left to their tables.
    ``results`` has ``model``, its ``metrics`` by name, and ``dataset``: the
    ``model-index``. Whatever names hold, they stay text.
    """
    measured = [
        {"type": name, "name": name, "value": round(float(value), 4)}
        for name, value in results["metrics"].items()
    ]
    data = {"type": "tabular", "name": results["dataset"], "split": "test"}
    evaluated = {
        "task": {"type": "tabular-classification"},
        "dataset": data,
        "metrics": measured,
    }
    metadata = {
        "library_name": "fairdash",
        "pipeline_tag": "tabular-classification",
        "tags": ["tabular-classification", "fairness"],
        "model-index": [{"name": results["model"], "results": [evaluated]}],
    }
    head = yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True)
    parts = [f"---\n{head}---", f"# {plain(title)}"]
    parts += [" · ".join(plain(fact) for fact in facts if fact)]
    for section in sections:
        parts += [f"## {section.title}", plain(section.comment)]
        parts += [_written(block) for block in section.blocks]
    parts.append(plain(f"{note} Written by fairdash {__version__}."))
    return "\n\n".join(filter(None, parts)) + "\n"


def _written(block: Block) -> str:
    match block:
        case Words():
            return f"**{plain(block.text)}**" if block.finding else plain(block.text)
        case Cards():
            return "\n".join(map(_card, block.items))
        case Facts():
            lines = [f"- **{plain(k)}**: {plain(v)}" for k, v in block.items.items()]
            title = f"### {plain(block.title)}\n\n" if block.title else ""
            return title + "\n".join(lines)
        case Code():
            longest = max(map(len, re.findall("`+", block.text)), default=0)
            fence = "`" * max(3, longest + 1)
            return f"### {plain(block.title)}\n\n{fence}\n{block.text.strip()}\n{fence}"
        case Figure():
            words = " ".join(filter(None, [block.picture.headline, block.caption]))
            table = _written(block.table) if block.table else ""
            return "\n\n".join(filter(None, [plain(words), table]))
        case Table():
            return _table(block)


def _card(item: Kpi) -> str:
    note = f" ({plain(item.note)})" if item.note else ""
    return f"- **{plain(item.label)}**: {plain(item.value)}{note}"


def _table(table: Table) -> str:
    lines = [
        f"| {' | '.join(plain(' '.join(cell.split())) for cell in row)} |"
        for row in [table.header, *table.rows]
    ]
    rule = "|".join("---:" if number else "---" for number in table.numeric)
    body = "\n".join([lines[0], f"|{rule}|", *lines[1:]])
    parts = [f"### {plain(table.title)}", body, plain(table.caption)]
    return "\n\n".join(filter(None, parts))
