"""Archives that are made to unpack to more, or elsewhere, than they say."""

import gzip
import struct
import zlib
from typing import NamedTuple

from crafted.case import LIMIT, Case
from crafted.workbooks import packed

AB = b"a,b\n1,2\n3,4\n"
TIMES = "to 250 times its size"
DAMAGED = "is a damaged or locked ZIP file"
LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
SYMLINK = 0o120777
FILE = 0o100644
LARGE = 0xFFFFFFFF


class Entry(NamedTuple):
    """A file in an archive, as its headers describe it; ``raw`` is what stands there.

    ``inside`` is the name in the header before the content, ``at`` where that begins.
    """

    name: bytes
    raw: bytes = AB
    method: int = 0
    size: int | None = None
    packed_size: int | None = None
    crc: int | None = None
    flags: int = 0
    mode: int = FILE
    extra: bytes = b""
    inside: bytes | None = None
    at: int | None = None


def archive(*entries, comment=b"", n_entries=None, before=b"", directory_at=None):
    """Return a ZIP archive whose headers say what they are told to say."""
    body = bytearray(before)
    directory = bytearray()
    for entry in entries:
        crc = zlib.crc32(entry.raw) if entry.crc is None else entry.crc
        n_raw = len(entry.raw) if entry.packed_size is None else entry.packed_size
        size = len(entry.raw) if entry.size is None else entry.size
        at = len(body) if entry.at is None else entry.at
        header = (20, entry.flags, entry.method, 0, 0x21, crc, n_raw, size)
        if entry.at is None:
            inside = entry.name if entry.inside is None else entry.inside
            body += LOCAL.pack(b"PK\3\4", *header, len(inside), 0) + inside + entry.raw
        lengths = len(entry.name), len(entry.extra), 0, 0, 0
        directory += CENTRAL.pack(
            b"PK\1\2", 0x314, *header, *lengths, entry.mode << 16, at
        )
        directory += entry.name + entry.extra
    n = (len(entries) if n_entries is None else n_entries) & 0xFFFF
    at = len(body) if directory_at is None else directory_at
    end = END.pack(b"PK\5\6", 0, 0, n, n, len(directory), at, len(comment))
    return bytes(body + directory) + end + comment


def repeated(n_mib, text=b","):
    """Return that many MiB of a text as an archive has them, made block by block."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = deflate.compress(text * ((1 << 20) // len(text)))
    return (block + deflate.flush(zlib.Z_FULL_FLUSH)) * n_mib + deflate.flush()


def gzipped(raw, *, flags=0, name=b"", crc=0, size=0):
    head = b"\x1f\x8b\x08" + bytes([flags]) + b"\0" * 4 + b"\2\3" + name
    return head + raw + struct.pack("<2L", crc, size & LARGE)


def nested_zip(depth, content=AB, name="t.csv"):
    for _ in range(depth):
        content = packed({name: content})
        name = "t.zip"
    return content


def nested_gzip(depth, content=AB):
    for _ in range(depth):
        content = gzip.compress(content, 1)
    return content


def overlapping(n):
    """Return an archive whose n files are all the same megabytes."""
    raw = repeated(16)
    first = Entry(b"0.csv", raw, 8, size=16 << 20)
    more = (first._replace(name=b"%d.csv" % i, at=0) for i in range(1, n))
    return archive(first, *more)


def bomb(method, raw, size):
    """Return an archive of one table packed by another method."""
    return archive(Entry(b"t.csv", raw, method, size=size))


READ = r"read \(2, 2\)"
TWO = "choose one"
GZIPS = {
    "bomb.csv.gz": Case(
        "80 MiB of rows in 80 kB", lambda: gzipped(repeated(80, b"1,2\n")), TIMES
    ),
    "nested.csv.gz": Case(
        "200 archives in one another", lambda: nested_gzip(200), "more than 8 others"
    ),
    "truncated.csv.gz": Case(
        "an archive without its end",
        lambda: gzip.compress(AB * 99)[:-12],
        "is a damaged gzip file",
    ),
    "empty_members.csv.gz": Case(
        "500,000 empty archives in a row",
        lambda: gzip.compress(AB) + gzip.compress(b"", 1) * 500_000,
        f"{READ}|{LIMIT}",
        heavy=True,
    ),
}
ZIPS = {
    "bomb_that_lies.zip": Case(
        "1 GiB of commas that says it has 10 bytes",
        lambda: bomb(8, repeated(1 << 10), 10),
        f"{TIMES}|{DAMAGED}",
    ),
    "nested.zip": Case(
        "60 archives in one another", lambda: nested_zip(60), "more than 8 others"
    ),
    "holds_itself.zip": Case(
        "an archive whose table is the archive: its first file begins where it does",
        lambda: archive(Entry(b"t.zip", at=0, packed_size=100, size=100)),
        f"{DAMAGED}|is a binary file",
    ),
    "overlapping.zip": Case(
        "500 files of 16 MiB that are the same bytes",
        lambda: overlapping(500),
        "500 tables",
    ),
    "members.zip": Case(
        "60,000 tables to choose from",
        lambda: archive(*(Entry(b"%d.csv" % i) for i in range(60_000))),
        "60,?000 tables",
    ),
    "upwards.zip": Case(
        "a table that would be unpacked outside the folder",
        lambda: archive(Entry(b"../../../../tmp/crafted.csv")),
        READ,
    ),
    "symlink.zip": Case(
        "a link to the list of users instead of a table",
        lambda: archive(Entry(b"t.csv", b"/etc/passwd", mode=SYMLINK)),
        "a header but no rows|link",
    ),
    "hostile_names.zip": Case(
        "names that are a link, markup and a turn of the writing",
        lambda: archive(
            Entry(b"[click](http://example.org).csv"),
            Entry(b"<img src=x onerror=alert(1)>.csv"),
            Entry("\u202egpj.csv".encode(), flags=0x800),
        ),
        TWO,
    ),
    "locked.zip": Case(
        "a table behind a password", lambda: archive(Entry(b"t.csv", flags=1)), DAMAGED
    ),
}
ARCHIVES = GZIPS | ZIPS
