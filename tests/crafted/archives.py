"""Archives that are made to unpack to more, or elsewhere, than they say."""

import bz2
import gzip
import lzma
import struct
import zlib
from typing import NamedTuple

from crafted.case import LIMIT, Case
from crafted.workbooks import PEOPLE, packed

AB = b"a,b\n1,2\n3,4\n"
TIMES = "unpacks to more than 250 times its size"
DAMAGED = "is a damaged ZIP file"
LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
SYMLINK, FILE = 0o120777, 0o100644
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
    body, directory = bytearray(before), bytearray()
    for one in entries:
        crc = zlib.crc32(one.raw) if one.crc is None else one.crc
        n_raw = len(one.raw) if one.packed_size is None else one.packed_size
        size = len(one.raw) if one.size is None else one.size
        at = len(body) if one.at is None else one.at
        told = (20, one.flags, one.method, 0, 0x21, crc, n_raw, size)
        if one.at is None:
            inside = one.name if one.inside is None else one.inside
            body += LOCAL.pack(b"PK\3\4", *told, len(inside), 0) + inside + one.raw
        lengths = len(one.name), len(one.extra), 0, 0, 0
        directory += CENTRAL.pack(b"PK\1\2", 0x314, *told, *lengths, one.mode << 16, at)
        directory += one.name + one.extra
    n = (len(entries) if n_entries is None else n_entries) & 0xFFFF
    at = len(body) if directory_at is None else directory_at
    end = END.pack(b"PK\5\6", 0, 0, n, n, len(directory), at, len(comment))
    return bytes(body + directory) + end + comment


def stamped(archive, place, value):
    """``archive`` with a byte changed in its local header and in its directory."""
    local, directory = archive.index(b"PK\x03\x04"), archive.index(b"PK\x01\x02")
    changed = bytearray(archive)
    changed[local + 4 + place] = changed[directory + 6 + place] = value
    return bytes(changed)


def deflated(content):
    """Return content as it stands in an archive."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(content) + deflate.flush()


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
        content, name = packed({name: content}), "t.zip"
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


def bzip_bomb():
    block = bz2.compress(b"," * (16 << 20))
    return bomb(12, block * 20, 320 << 20)


def lzma_dictionary():
    """Return an archive whose packed table asks for a dictionary of 4 GiB."""
    properties = bytes([93]) + struct.pack("<L", LARGE)
    head = struct.pack("<BBH", 9, 4, len(properties)) + properties
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 20}]
    raw = head + lzma.compress(AB, lzma.FORMAT_RAW, filters=filters)
    return archive(Entry(b"t.csv", raw, 14, size=len(AB), crc=zlib.crc32(AB)))


def zip64(size):
    """Return an archive that says by Zip64 how large its table is."""
    extra = struct.pack("<2H2Q", 1, 16, size, len(AB))
    return archive(Entry(b"t.csv", size=LARGE, packed_size=LARGE, extra=extra))


READ = r"read \(2, 2\)"
TWO = "choose one"
GZIPS = {
    "bomb.csv.gz": Case(
        "80 MiB of rows in 80 kB",
        lambda: gzipped(repeated(80, b"1,2\n")),
        TIMES,
    ),
    "large_bomb.csv.gz": Case(
        "10 GiB of commas in 10 MB",
        lambda: gzipped(repeated(10 << 10)),
        "unpacks to more",
        heavy=True,
    ),
    "bomb_in_bomb.csv.gz": Case(
        "4 GiB of commas in 4 MB in 20 kB",
        lambda: nested_gzip(1, gzipped(repeated(4 << 10))),
        "unpacks to more",
        heavy=True,
    ),
    "nested.csv.gz": Case(
        "200 archives in one another", lambda: nested_gzip(200), "more than 8 others"
    ),
    "truncated.csv.gz": Case(
        "an archive without its end",
        lambda: gzip.compress(AB * 99)[:-12],
        "is a damaged gzip file",
    ),
    "concatenated.csv.gz": Case(
        "two archives in a row, as gzip allows",
        lambda: gzip.compress(AB) + gzip.compress(b"5,6\n"),
        r"read \(3, 2\)",
    ),
    "empty_members.csv.gz": Case(
        "500,000 empty archives in a row",
        lambda: gzip.compress(AB) + gzip.compress(b"", 1) * 500_000,
        f"{READ}|{LIMIT}",
        heavy=True,
    ),
    "garbage_after.csv.gz": Case(
        "bytes after an archive that are none",
        lambda: gzip.compress(AB) + b"garbage" * 99,
        "is a damaged gzip file",
    ),
    "other_sum.csv.gz": Case(
        "a checksum of other bytes",
        lambda: gzipped(deflated(AB), crc=1, size=len(AB)),
        "is a damaged gzip file",
    ),
    "endless_name.csv.gz": Case(
        "a file name of 15 MB without an end",
        lambda: gzipped(b"", flags=8, name=b"x" * (15 << 20)),
        "is a damaged gzip file",
        heavy=True,
    ),
    "long_name.csv.gz": Case(
        "a file name of 15 MB, before a table",
        lambda: gzipped(
            deflated(AB),
            flags=8,
            name=b"x" * (15 << 20) + b"\0",
            crc=zlib.crc32(AB),
            size=len(AB),
        ),
        READ,
        heavy=True,
    ),
    "unknown_flags.csv.gz": Case(
        "a header of a later version of the format",
        lambda: gzipped(deflated(AB), flags=0xE0, crc=zlib.crc32(AB), size=len(AB)),
        f"{READ}|is a damaged gzip file",
    ),
}
ZIPS = {
    "bomb.zip": Case(
        "1 GiB of commas in 1 MB",
        lambda: bomb(8, repeated(1 << 10), 1 << 30),
        TIMES,
    ),
    "bomb_that_lies.zip": Case(
        "1 GiB of commas that says it has 10 bytes",
        lambda: bomb(8, repeated(1 << 10), 10),
        f"{TIMES}|{DAMAGED}",
    ),
    "bzip_bomb.zip": Case("320 MiB by bzip2 in 1 kB", bzip_bomb, f"{TIMES}|{DAMAGED}"),
    "lzma_dictionary.zip": Case(
        "a dictionary of 4 GiB to unpack 12 bytes",
        lzma_dictionary,
        f"{READ}|{LIMIT}|{DAMAGED}|cannot be unpacked",
    ),
    "nested.zip": Case(
        "60 archives in one another", lambda: nested_zip(60), "more than 8 others"
    ),
    "nested_to_the_limit.zip": Case(
        "eight archives in one another", lambda: nested_zip(8), READ
    ),
    "mixed.zip": Case(
        "gzip and ZIP in turns, 30 times",
        lambda: nested_zip(1, nested_gzip(15, nested_zip(14))),
        "more than 8 others",
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
    "long_members.zip": Case(
        "120 tables to choose from, with names of 60,000 letters",
        lambda: archive(*(Entry(b"%d" % i + b"x" * 60_000) for i in range(120))),
        "120 tables",
    ),
    "no_tables.zip": Case(
        "65,000 files that are no tables",
        lambda: archive(*(Entry(b"%d.png" % i, b"") for i in range(65_000))),
        "65,?000 tables",
        heavy=True,
    ),
    "folders.zip": Case(
        "60,000 folders and no file",
        lambda: archive(*(Entry(b"%d/" % i, b"") for i in range(60_000))),
        "holds no file",
        heavy=True,
    ),
    "too_small.zip": Case(
        "a table that says it is larger than the archive",
        lambda: archive(Entry(b"t.csv", size=1 << 31, packed_size=1 << 31)),
        DAMAGED,
    ),
    "zip64.zip": Case(
        "a table that says it has 2**63 bytes",
        lambda: zip64(1 << 63),
        f"{READ}|{DAMAGED}",
    ),
    "other_sum.zip": Case(
        "a checksum of other bytes",
        lambda: archive(Entry(b"t.csv", crc=1)),
        DAMAGED,
    ),
    "absolute.zip": Case(
        "a table that would be unpacked over the list of users",
        lambda: archive(Entry(b"/etc/passwd")),
        READ,
    ),
    "upwards.zip": Case(
        "a table that would be unpacked outside the folder",
        lambda: archive(Entry(b"../../../../tmp/crafted.csv")),
        READ,
    ),
    "backslashes.zip": Case(
        "the same as Windows writes it",
        lambda: archive(Entry(rb"..\..\..\tmp\crafted.csv")),
        f"{READ}|holds no file",
    ),
    "symlink.zip": Case(
        "a link to the list of users instead of a table",
        lambda: archive(Entry(b"t.csv", b"/etc/passwd", mode=SYMLINK)),
        "a header but no rows|link",
    ),
    "no_name.zip": Case(
        "a table without a name",
        lambda: archive(Entry(b"")),
        f"{READ}|{DAMAGED}|holds no file",
    ),
    "nul_name.zip": Case(
        "a name with an end before its end",
        lambda: archive(Entry(b"t.csv\0.png")),
        f"{READ}|{DAMAGED}",
    ),
    "no_utf8_name.zip": Case(
        "a name in UTF-8 that is none",
        lambda: archive(Entry(b"\xff\xfe.csv", flags=0x800)),
        DAMAGED,
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
    "same_names.zip": Case(
        "two tables of one name",
        lambda: archive(Entry(b"t.csv"), Entry(b"t.csv", b"a,b\n5,6\n")),
        r"read \(|choose one|twice",
    ),
    "two_names.zip": Case(
        "a table whose headers name it differently",
        lambda: archive(Entry(b"t.csv", inside=b"u.csv")),
        DAMAGED,
    ),
    "unknown_method.zip": Case(
        "a method that nobody has",
        lambda: archive(Entry(b"t.csv", method=99)),
        "cannot be unpacked; compress it with Deflate",
    ),
    "unknown_version.zip": Case(
        "a format of a later version",
        lambda: stamped(archive(Entry(b"t.csv")), 0, 0xFF),
        f"{DAMAGED}|not supported|cannot be unpacked",
    ),
    "locked.zip": Case(
        "a table behind a password",
        lambda: archive(Entry(b"t.csv", flags=1)),
        "is locked",
    ),
    "strongly_locked.zip": Case(
        "a table locked by another method",
        lambda: archive(Entry(b"t.csv", flags=0x41)),
        "is locked|cannot be unpacked|damaged",
    ),
    "patched.zip": Case(
        "a table of differences to a file that is here",
        lambda: archive(Entry(b"t.csv", flags=0x20)),
        "cannot be unpacked",
    ),
    "more_entries.zip": Case(
        "an archive that says it has 65,535 files and has one",
        lambda: archive(Entry(b"t.csv"), n_entries=0xFFFF),
        f"{READ}|{DAMAGED}",
    ),
    "directory_beyond.zip": Case(
        "a directory that lies beyond the end",
        lambda: archive(Entry(b"t.csv"), directory_at=1 << 31),
        DAMAGED,
    ),
    "long_comment.zip": Case(
        "a comment that holds another archive",
        lambda: archive(
            Entry(b"t.csv"), comment=archive(Entry(b"u.csv"))[:60_000].ljust(60_000)
        ),
        f"{READ}|{DAMAGED}",
    ),
    "extra.zip": Case(
        "a further field that is longer than it is",
        lambda: archive(Entry(b"t.csv", extra=struct.pack("<2H", 1, 0xFFFF))),
        DAMAGED,
    ),
    "half.zip": Case(
        "an archive without its end", lambda: archive(Entry(b"t.csv"))[:-30], DAMAGED
    ),
    "two_tables_one_file.zip": Case(
        "rows of a table, and an archive behind them",
        lambda: archive(Entry(b"u.csv"), before=b"PK\3\4,b\n1,2\n"),
        f"{READ}|{DAMAGED}",
    ),
    "workbook_in_workbook.zip": Case(
        "a workbook in eight archives", lambda: nested_zip(8, PEOPLE, "t.xlsx"), READ
    ),
}
ARCHIVES = GZIPS | ZIPS
