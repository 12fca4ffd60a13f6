"""Workbooks that are well packed, of damaged XML: cells, styles and parts."""

import re

from crafted.case import Case
from crafted.workbooks import (
    BOOK,
    DAMAGED,
    PARTS,
    READ,
    RELATIONS,
    SHEET,
    edited,
    further_rows,
    packed,
)

TAG = re.compile("<[^>]*>")
ATTRIBUTE = re.compile(r'[\w:]+="[^"]*"')
CHANGES = "bytes", "drop", "double", "value", "name"
JUNK = ("", "-1", "x", "1e999", "9" * 400, "None", "&amp;", "../..", "true", "A0")


def cell(attributes="", inside="<v>1</v>"):
    """Return a workbook with a third person whose age is a crafted cell."""
    return further_rows(f'<row r="4"><c r="A4" {attributes}>{inside}</c></row>')


def encoded(name):
    """Return a workbook whose sheet says it is in another encoding."""
    return edited(SHEET, lambda xml: f'<?xml version="1.0" encoding="{name}"?>{xml}')


def mutated(part, at, change, patch):
    """Return a workbook with one damage inside the ZIP.

    Parameters
    ----------
    part, at : int
        Which file inside, and which of its bytes, tags or attributes.
    change : str
        One of `CHANGES`: bytes become ``patch``, a tag goes or comes twice, an
        attribute gets a value of `JUNK` or another name.
    """
    names = sorted(PARTS)
    name = names[part % len(names)]
    xml = PARTS[name].decode()
    if change == "bytes":
        start = at % len(xml)
        end = start + 1
        new = patch.decode("latin-1")
    else:
        pattern = TAG if change in ("drop", "double") else ATTRIBUTE
        matches = list(pattern.finditer(xml))
        mark = matches[at % len(matches)]
        start, end = mark.span()
        new = {
            "drop": "",
            "double": mark[0] * 2,
            "value": f'{mark[0].partition("=")[0]}="{JUNK[at % len(JUNK)]}"',
            "name": f"x{mark[0]}",
        }[change]
    return packed(PARTS | {name: xml[:start] + new + xml[end:]})


DAMAGE = {
    "text_beyond.xlsx": Case(
        "a cell whose shared text is not there",
        lambda: cell('t="s"', "<v>999999</v>"),
        DAMAGED,
    ),
    "endless_number.xlsx": Case(
        "a whole number of 200,000 digits",
        lambda: cell("", f"<v>{'9' * 200_000}</v>"),
        rf"read \(3, 2\)|{DAMAGED}",
    ),
    "no_text_encoding.xlsx": Case(
        "a sheet in an encoding of Python's that gives bytes",
        lambda: encoded("zlib"),
        f"{READ}|{DAMAGED}",
    ),
    "path_as_part.xlsx": Case(
        "a sheet that lies in the server's list of users",
        lambda: edited(
            RELATIONS,
            lambda xml: re.sub(
                'Target="/xl/worksheets/sheet1.xml"', 'Target="/etc/passwd"', xml
            ),
        ),
        "empty|damaged",
    ),
    "no_sheets.xlsx": Case(
        "a workbook without sheets",
        lambda: edited(BOOK, lambda xml: re.sub("<sheets>.*</sheets>", "", xml)),
        "empty|damaged",
    ),
}
