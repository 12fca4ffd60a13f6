"""Workbooks whose XML is made to cost a reader more than their bytes."""

import io
import re
import zipfile
from functools import partial

import numpy as np
import openpyxl

from crafted.case import LIMIT, Case

SHEET = "xl/worksheets/sheet1.xml"
STYLES = "xl/styles.xml"
STRINGS = "xl/sharedStrings.xml"
BOOK = "xl/workbook.xml"
RELATIONS = "xl/_rels/workbook.xml.rels"
TYPES = "[Content_Types].xml"
SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DATA = "<sheetData ?/>|<sheetData>.*</sheetData>"
DAMAGED = "damaged"


def workbook(**sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def parts(content):
    """Return the files inside a workbook by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return {name: book.read(name) for name in book.namelist()}


def _with_shared_texts(content):
    """Return a workbook whose first text is a shared one, as Excel writes them."""
    files = {name: part.decode() for name, part in parts(content).items()}
    files[SHEET] = files[SHEET].replace(
        't="inlineStr"><is><t>age</t></is>', 't="s"><v>0</v>', 1
    )
    files[STRINGS] = f'<sst xmlns="{SPACE}"><si><t>age</t></si></sst>'
    shared = '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.'
    shared += 'openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
    files[TYPES] = files[TYPES].replace("</Types>", shared + "</Types>")
    return packed(files)


def packed(files, level=6):
    """Return a ZIP archive of files by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level
    ) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


PEOPLE = _with_shared_texts(workbook(S=[["age", "sex"], [31, "w"], [32, "m"]]))
PARTS = parts(PEOPLE)


def edited(part, change):
    """Return a workbook of two people with one of its files changed."""
    xml = PARTS[part].decode()
    changed = change(xml)
    assert changed != xml
    return packed(PARTS | {part: changed}, level=1)


def after(part, mark, text):
    """Return a workbook with text behind a mark, a pattern, of one of its files."""
    return edited(
        part, lambda xml: re.sub(mark, lambda found: found[0] + text, xml, count=1)
    )


def further_rows(xml):
    return edited(
        SHEET, lambda sheet: sheet.replace("</sheetData>", xml + "</sheetData>", 1)
    )


def formatted(*codes, n_styles=None):
    """Return a workbook whose cells have number formats of its own."""
    n = len(codes)
    formats = "".join(
        f'<numFmt numFmtId="{200 + i}" formatCode="{code}"/>'
        for i, code in enumerate(codes)
    )
    used = "".join(f'<xf numFmtId="{200 + i % n}"/>' for i in range(n_styles or n))

    def change(xml):
        xml = xml.replace('<numFmts count="0" />', f"<numFmts>{formats}</numFmts>")
        return xml.replace("</cellXfs>", f"{used}</cellXfs>")

    return edited(STYLES, change)


def sheets(n):
    """Return a workbook of that many sheets that are one file."""
    listed = "".join(
        f'<sheet xmlns:r="{LINKS}" name="s{i}" sheetId="{i + 1}" r:id="x{i}"/>'
        for i in range(n)
    )
    related = "".join(
        f'<Relationship Id="x{i}" Target="/xl/worksheets/sheet1.xml" '
        f'Type="{LINKS}/worksheet"/>'
        for i in range(n)
    )
    listing = PARTS[BOOK].decode()
    listing = re.sub("<sheets>.*</sheets>", f"<sheets>{listed}</sheets>", listing)
    expected = PARTS[RELATIONS].decode()
    relations = expected.replace("</Relationships>", related + "</Relationships>")
    return packed({**PARTS, BOOK: listing, RELATIONS: relations}, level=1)


def entities(part, mark, *, depth=40):
    """Return a workbook in which a text is ten of a text that is ten of a text."""
    levels = "".join(f"<!ENTITY e{i} '{10 * f'&e{i - 1};'}'>" for i in range(1, depth))
    doctype = f'<!DOCTYPE x [<!ENTITY e0 "haha">{levels}]>'
    return _with_doctype(part, doctype, mark, f"&e{depth - 1};")


def outside(part, mark, address):
    """Return a workbook that has a text from another file or server."""
    return _with_doctype(
        part, f'<!DOCTYPE x [<!ENTITY e SYSTEM "{address}">]>', mark, "&e;"
    )


def _with_doctype(part, doctype, mark, text):
    def change(xml):
        declared = ""
        body = xml
        if xml.startswith("<?xml"):
            declared, _, body = xml.partition("?>")
            declared += "?>"
        return declared + doctype + body.replace(mark, mark + text, 1)

    return edited(part, change)


def far_cells(n_rows, last):
    text = "".join(
        f'<row r="{r}"><c r="A{r}"><v>1</v></c>{last.format(r)}</row>'
        for r in range(1, n_rows)
    )
    data = f"<sheetData>{text}</sheetData>"
    return edited(SHEET, lambda xml: re.sub(DATA, lambda _: data, xml))


def shared_strings():
    texts = f"<si><t>{'x' * 10_000}</t></si>" * 14_000
    return after(STRINGS, "<sst .*?>", texts)


def one_cell():
    random = np.random.default_rng(0).integers(97, 122, 1 << 20, dtype=np.uint8)
    text = random.tobytes().decode() * 10
    return further_rows(f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>')


READ = r"read \(2, 2\)"
WORKBOOKS = {
    "format_20k.xlsx": Case(
        "a number format whose reading takes its length squared, a second",
        lambda: formatted("[" * 20_000),
        f"{READ}|{LIMIT}|number format",
    ),
    "format_1m.xlsx": Case(
        "the same of 1,000,000 characters, hours of a processor",
        lambda: formatted("[" * 1_000_000),
        f"{READ}|{LIMIT}|number format",
        heavy=True,
    ),
    "shared_strings.xlsx": Case(
        "texts of 140 MB that all stay in memory",
        shared_strings,
        "whose name has 10,000 characters",
    ),
    "far_cell.xlsx": Case(
        "rows of one cell, in the last column there can be",
        lambda: far_cells(2_000, '<c r="XFD{0}" t="inlineStr"><is><t>x</t></is></c>'),
        "16,384 columns, none or more than 2,000",
    ),
    "one_cell.xlsx": Case(
        "a cell of ten million characters",
        one_cell,
        "has a cell of 10,485,760 characters",
    ),
    "many_rows.xlsx": Case(
        "more rows than a sheet can have",
        lambda: further_rows("<row><c><v>1</v></c></row>" * 1_100_000),
        r"read \(\d+, 2\)|" + LIMIT,
        heavy=True,
    ),
    "entities.xlsx": Case(
        "a cell that is 10**39 words long",
        partial(entities, SHEET, "<sheetData>"),
        f"{READ}|{DAMAGED}",
    ),
    "quadratic_entity.xlsx": Case(
        "a text of 100 kB that comes 100,000 times",
        lambda: _with_doctype(
            STRINGS,
            f"<!DOCTYPE x [<!ENTITY e '{'x' * 100_000}'>]>",
            "<t>",
            "&e;" * 100_000,
        ),
        DAMAGED,
    ),
    "file_entity.xlsx": Case(
        "a cell that is the list of the server's users",
        partial(outside, STRINGS, "<t>", "file:///etc/passwd"),
        DAMAGED,
    ),
    "deep_styles.xlsx": Case(
        "styles of 100,000 elements in one another",
        lambda: after(STYLES, "<fonts .*?>", "<font>" * 100_000 + "</font>" * 100_000),
        f"{READ}|{LIMIT}|{DAMAGED}",
    ),
}
