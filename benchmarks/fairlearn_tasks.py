"""Time both sides of docs/fairlearn.md, block by block, and count their lines.

    python benchmarks/fairlearn_tasks.py

Seconds are those of the processor, of imports too, the median of three runs.
"""

import ast
import re
import time
from pathlib import Path
from statistics import median

PAGE = Path(__file__).parents[1] / "docs" / "fairlearn.md"


def seconds(code: str, names: dict) -> float:
    """Return the median time of a block, after one run that imports."""
    compiled = compile(code, PAGE.name, "exec")
    exec(compiled, names)
    times = []
    for _ in range(3):
        start = time.process_time()
        exec(compiled, names)
        times.append(time.process_time() - start)
    return median(times)


def statements(code: str) -> int:
    """Return the number of lines that are neither empty nor an import."""
    imports = sum(
        isinstance(n, ast.Import | ast.ImportFrom) for n in ast.parse(code).body
    )
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
