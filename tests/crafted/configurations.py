"""Configurations of sweeps that are made to swell, to run code or never to end."""

from crafted.case import Case

SWEEP = """
data: {{sample: loans}}
methods: [{{method: road, params: {{{params}}}}}]
{more}
"""
ROLES = "{target: a, positive: b, sensitive_feature: c, features: [d]}"
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
}
