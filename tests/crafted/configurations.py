"""Configurations that are made to swell, to run code or never to end.

Each is named after what reads it: a sweep, or the folder before the name.
"""

from crafted.case import Case

SWEEP = """
data: {{sample: loans}}
methods: [{{method: road, params: {{{params}}}}}]
{more}
"""
ROLES = "{target: a, positive: b, sensitive_feature: c, features: [d]}"
POLICY = "decision: hired=yes\ngroups: [sex]\n"
LIMIT = "{measure: selection_rate, at_most: .1}"
SWEPT = "methods: [{method: road}]\n"
LARGE = "too large: more than"
MANY = "at most 200 entries"
INVALID = "Not valid YAML|should be|must be|more than|nested|too deep|too large"


def sweep(params="tau: 1", more=""):
    return SWEEP.format(params=params, more=more).encode()


def aliases(depth, width=10):
    """Return a list that is ten of a list that is ten of a list."""
    lines = [f"a0: &a0 [{', '.join('x' * width)}]"]
    for i in range(1, depth):
        lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]")
    return "\n".join(
        [*lines, f"data: *a{depth - 1}", f"methods: *a{depth - 1}"]
    ).encode()


def merged(depth, width=50):
    """Return a mapping made of fifty mappings that are made of fifty mappings."""
    lines = ["a0: &a0 {x: 1}"]
    for i in range(1, depth):
        lines.append(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * width)}]}}")
    return "\n".join(lines).encode()


def many(field, entry, n, head=""):
    """Return a configuration with a list of one entry, spelled out each time."""
    return f"{head}{field}: [{','.join([entry] * n)}]".encode()


def alike(field, entry, n, head=""):
    """Return the same by aliases of one entry."""
    head = f"same: &a {entry}\n{head}"
    return f"{head}{field}: [{','.join(['*a'] * n)}]".encode()


def wrong_limits(n):
    """Return a policy of limits each of which has five faults of its own."""
    limits = (
        f"{{measure: m{i}, of: x{i}, at_most: y, min_rows: 0, z{'q' * 90}{i}: 1}}"
        for i in range(n)
    )
    return f"{POLICY}limits: [{','.join(limits)}]".encode()


def nested(opening, closing, depth=50_000):
    return f"data: {opening * depth}{closing * depth}".encode()


CONFIGURATIONS = {
    "aliases.yaml": Case(
        "a list of 10**9 words by aliases", lambda: aliases(9), INVALID
    ),
    "merged.yaml": Case("mappings of 50**6 mappings", lambda: merged(7), INVALID),
    "lists.yaml": Case(
        "50,000 lists in one another", lambda: nested("[", "]"), INVALID
    ),
    "call.yaml": Case(
        "a tag that calls the system",
        lambda: b"data: !!python/object/apply:os.system ['id']",
        "Not valid YAML",
    ),
    "digits.yaml": Case(
        "a number of 5,000 digits",
        lambda: sweep(f"tau: {'9' * 5_000}"),
        "Not valid YAML",
    ),
    "googol.yaml": Case("10**400", lambda: sweep(f"tau: 1{'0' * 400}"), "tau"),
    "nan.yaml": Case("no number", lambda: sweep("tau: .nan"), "tau"),
    "endless.yaml": Case(
        "a training of 10**18 epochs", lambda: sweep(f"n_epochs: {10**18}"), "n_epochs"
    ),
    "seeds.yaml": Case(
        "a million seeds",
        lambda: sweep(more=f"seeds: [{', '.join(map(str, range(1_000_000)))}]"),
        "seeds|too large|more than",
    ),
    "googol_rows.yaml": Case(
        "10**400 rows to train on",
        lambda: sweep(more=f"train_rows: 1{'0' * 400}"),
        "train_rows",
    ),
    "settings.yaml": Case(
        "a grid of 10**9 settings",
        lambda: sweep(
            "tau: {linear: [0.1, 1, 1000]}, fairness_weight: {linear: [0, 5, 1000]}, "
            "learning_rate: {log: [0.001, 0.1, 1000]}"
        ),
        "1,000,000,000 settings, more than 10,000",
    ),
    "long.yaml": Case(
        "a word of 10,000,000 letters",
        lambda: b"data: " + b"x" * 10_000_000,
        "too large|more than|should be",
    ),
    "nul.yaml": Case("a zero", lambda: b"data: \x00", "Not valid YAML"),
    "no_utf8.yaml": Case(
        "a text that is none", lambda: b"data: \xff\xfe\xff", "Not valid YAML|text"
    ),
    "policy/lists.yaml": Case(
        "480 kB of empty lists", lambda: many("limits", "[]", 160_000, POLICY), LARGE
    ),
    "policy/aliases.yaml": Case(
        "20,000 limits that are one",
        lambda: alike("limits", LIMIT, 20_000, POLICY),
        LARGE,
    ),
    "policy/limits.yaml": Case(
        "201 limits", lambda: many("limits", LIMIT, 201, POLICY), MANY
    ),
    "policy/groups.yaml": Case(
        "40,000 columns of groups",
        lambda: many("groups", "sex", 40_000, f"limits: [{LIMIT}]\n"),
        MANY,
    ),
    "policy/faults.yaml": Case(
        "200 limits of five faults each", lambda: wrong_limits(200), r"and [\d,]+ more"
    ),
    "policy/names.yaml": Case(
        "five fields with names of 90,000 letters",
        lambda: (POLICY + "".join(f"{c * 90_000}: 1\n" for c in "vwxyz")).encode(),
        "Extra inputs|Not valid YAML",
    ),
    "policy/deep.yaml": Case(
        "60 lists in one another", lambda: nested("[", "]", 60), "nested too deeply"
    ),
    "roles/features.yaml": Case(
        "100,000 features", lambda: many("features", "x", 100_000), LARGE
    ),
    "roles/faults.yaml": Case(
        "40,000 features that are none",
        lambda: many("features", "1", 40_000, ROLES[1:-17].replace(", ", "\n") + "\n"),
        r"and [\d,]+ more",
    ),
    "roles/fields.yaml": Case(
        "20,000 fields that roles do not have",
        lambda: "".join(f"x{i}: 1\n" for i in range(20_000)).encode(),
        r"and [\d,]+ more",
    ),
    "sources/list.yaml": Case(
        "20,000 sources that have no address",
        lambda: "".join(f"s{i}: {{}}\n" for i in range(20_000)).encode(),
        "could not be read",
    ),
    "sources/aliases.yaml": Case(
        "a list of sources of 10**9 words", lambda: aliases(9), "could not be read"
    ),
    "benchmark/tables.yaml": Case(
        "20,000 tables that are one",
        lambda: alike("tables", "{sample: loans}", 20_000, SWEPT),
        LARGE,
    ),
    "benchmark/many.yaml": Case(
        "9,000 tables that are one",
        lambda: alike("tables", "{sample: loans}", 9_000, SWEPT),
        MANY,
    ),
    "methods.yaml": Case(
        "9,000 methods that are one",
        lambda: alike("methods", "{method: road}", 9_000, "data: {sample: loans}\n"),
        f"{MANY}|{INVALID}",
    ),
    "sample.yaml": Case(
        "a sample with a name of 400,000 letters",
        lambda: f"data: {{sample: {'x' * 400_000}}}\n{SWEPT}".encode(),
        "`sample` must be one of",
    ),
}
