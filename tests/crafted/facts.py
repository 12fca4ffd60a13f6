"""Bundles of runs whose facts, or the archive around them, are crafted."""

import json
from collections.abc import Callable
from typing import Any

from crafted.archives import SYMLINK, Entry, archive, repeated
from crafted.bundles import FACTS, Facts, Make, Members, member, told, written

MANY = [f"{i:032x}" for i in range(100_000)]  # keys of trials
ROLES = {"target": "a", "positive": "b", "sensitive_feature": "c", "features": []}


def without(kind: str) -> Make:
    """Return what makes a bundle that lacks a member which its facts list."""

    def make(members: Members, facts: Facts) -> bytes:
        name = member(kind, members, facts)
        return written({n: c for n, c in members.items() if n != name}, facts)

    return make


def beside(*entries: Entry) -> Make:
    """Return what makes a bundle with further entries that its facts do not list."""

    def make(members: Members, facts: Facts) -> bytes:
        listed = [Entry(name.encode(), content) for name, content in members.items()]
        text = Entry(FACTS.encode(), json.dumps(facts).encode())
        return archive(*listed, *entries, text)

    return make


def text(change: Callable[[bytes], bytes]) -> Make:
    """Return what makes a bundle whose facts are another text."""
    return lambda members, facts: written(members, change(json.dumps(facts).encode()))


def run(**fields: Any) -> Make:
    return told(lambda facts: facts["runs"][0].update(fields))


def spec(**fields: Any) -> Make:
    return told(lambda facts: facts["runs"][0]["spec"].update(fields))


def path(name: str) -> Make:
    """Return what makes a bundle whose data are a file of the server."""
    return spec(data={"path": name, "roles": ROLES, "name": "x"})


def trials(facts: Facts) -> None:
    facts["runs"][0].update(keys=MANY)
    facts["runs"][0]["spec"].update(seeds=list(range(50_000)))


TOLD = {
    "a file of the server": path("/etc/passwd"),
    "a file of another user": path("../../other/store.db"),
    "a sample with other settings": spec(data={"sample": "loans"}),
    "100,000 trials": told(trials),
    "10**10 settings": spec(
        methods=[
            {
                "method": "road",
                "params": {
                    "tau": [0.1 + i / 1e6 for i in range(100_000)],
                    "fairness_weight": list(range(100_000)),
                },
            }
        ]
    ),
    "a failed model that is not there": run(failed={}),
    "a name of 10 MB": run(name="x" * 10_000_000),
    "facts of 100 MB of spaces": text(lambda old: old + b" " * 100_000_000),
    "facts that are a list": text(lambda old: b"[]"),
    "facts with half a letter": text(lambda old: old.replace(b'"Sweep"', rb'"\ud800"')),
}
PACKED = {
    "no model": without("model"),
    "a member that nothing names": beside(Entry(b"more", b"x")),
    "a member outside its folder": beside(Entry(b"../../more.csv", b"x")),
    "a link to a file": beside(Entry(b"more", b"/etc/passwd", mode=SYMLINK)),
    "60,000 members": beside(*(Entry(b"%d" % i, b"") for i in range(60_000))),
    "a member of 4 GiB that says ten bytes": beside(
        Entry(b"more", repeated(4 << 10), 8, size=10)
    ),
    "no end": lambda members, facts: written(members, facts)[:-3_000],
}
FILES = TOLD | PACKED
