"""Time both sides of docs/fairlearn.md, block by block, and count their lines.

    python benchmarks/fairlearn_tasks.py

Seconds are those of the processor, without imports, of one run.
"""

import ast
import re
import time
from pathlib import Path

IMPORTS = (ast.Import, ast.ImportFrom)
PAGE = Path(__file__).parents[1] / "docs" / "fairlearn.md"


def seconds(code: str, names: dict) -> float:
    """Return the time of a block, without that of its imports."""
    imports = [n for n in ast.parse(code).body if isinstance(n, IMPORTS)]
    exec(compile(ast.Module(imports, []), PAGE.name, "exec"), names)
    start = time.process_time()
    exec(compile(code, PAGE.name, "exec"), names)
    return time.process_time() - start


def statements(code: str) -> int:
    """Return the number of lines that are neither empty nor an import."""
    imports = sum(isinstance(n, IMPORTS) for n in ast.parse(code).body)
    return sum(bool(line.strip()) for line in code.splitlines()) - imports


def main() -> None:
    text = PAGE.read_text()
    start, *_ = re.findall(r"```python\n(.*?)```", text, re.S)
    names: dict = {}
    exec(start, names)
    columns = ["task", "lines, fairlearn", "lines, fairdash"]
    columns += ["seconds, fairlearn", "seconds, fairdash", "ratio"]
    print(f"| {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|")
    for section in text.split("\n## ")[1:]:
        blocks = re.findall(r"```python\n(.*?)```", section, re.S)
        if len(blocks) != 2:
            continue
        theirs, ours = (seconds(code, names) for code in blocks)
        lines = " | ".join(str(statements(code)) for code in blocks)
        title = section.splitlines()[0]
        print(
            f"| {title} | {lines} | {theirs:.3f} | {ours:.3f} | {theirs / ours:.1f} |"
        )


if __name__ == "__main__":
    main()
