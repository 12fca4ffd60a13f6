"""Whose the processor's time of a rerun is, measured in the process that serves.

`watch` has Streamlit note, for reruns of a fragment (a release of a slider), the
processor's time of the script's thread, and every second of them under a profiler.
`report` attributes that to packages: what Python itself and its library take counts
for the package that called them, in proportion to its calls.
"""

import atexit
import cProfile
import marshal
import pstats
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

PACKAGES = {  # part of a file's name, of whose time it is
    "/streamlit/": "Streamlit",
    "/google/": "protobuf",
    "/plotly/": "plotly",
    "/_plotly_utils/": "plotly",
    "/pandas/": "pandas and NumPy",
    "/numpy/": "pandas and NumPy",
    "/sqlalchemy/": "SQLAlchemy",
    "/fairdash/": "fairdash",
}
PYTHON = "Python"


def watch(path):
    """Write times and profiles of this process's reruns to ``path`` when it ends."""
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

    run = ScriptRunner._run_script
    times = defaultdict(list)
    profiles = {}
    lock = threading.Lock()  # reruns of several sessions

    def watched(self, rerun):
        page = rerun.page_name
        count = len(times[rerun.page_name])
        if not (rerun.fragment_id or rerun.fragment_id_queue):
            return run(self, rerun)
        if count % 2 == 0:
            began = time.thread_time()
            run(self, rerun)
            times[page].append(time.thread_time() - began)
            return None
        profiler = cProfile.Profile(time.thread_time)
        profiler.runcall(run, self, rerun)
        profiler.create_stats()
        with lock:
            if page in profiles:
                profiles[page].add(profiler)
            else:
                profiles[page] = pstats.Stats(profiler)
        times[page].append(float("nan"))
        return None

    def write():
        counts = {
            page: (values, profiles[page].stats if page in profiles else {})
            for page, values in times.items()
        }
        Path(path).write_bytes(marshal.dumps(counts))

    ScriptRunner._run_script = watched
    atexit.register(write)


def owner(function):
    """Return the package of a function, or nothing for Python's own."""
    file = function[0]
    return next((name for part, name in PACKAGES.items() if part in file), None)


def by_package(stats):
    """Return the share of the time that each package takes."""
    files = {}

    def owners(function, path=()):
        """Return the packages for which a function works, with their shares."""
        if name := owner(function):
            return Counter({name: 1.0})
        if function in files:
            return files[function]
        callers = stats[function][4] if function in stats else {}
        above = {
            caller: max(numbers[2], 1e-12)
            for caller, numbers in callers.items()
            if caller not in path and caller != function
        }
        if not above:
            return Counter({PYTHON: 1.0})
        whole = sum(above.values())
        counts = Counter()
        for caller, taken in above.items():
            for name, share in owners(caller, (*path, function)).items():
                counts[name] += share * taken / whole
        if not path:
            files[function] = counts
        return counts

    spent = Counter()
    for function, (_, _, taken, _, _) in stats.items():
        for name, share in owners(function).items():
            spent[name] += share * taken
    whole = sum(spent.values())
    return {name: taken / whole for name, taken in spent.most_common()}


def report(path, n_most=12):
    """Print, by page, whose the time is and which of fairdash's functions take most."""
    for page, (times, stats) in marshal.loads(Path(path).read_bytes()).items():
        plain = [value for value in times if value == value]
        mean = 1000 * sum(plain) / max(len(plain), 1)
        print(f"{page}: script {mean:.1f} ms of a processor, {len(times)} releases")
        for name, share in by_package(stats).items():
            print(f"  {name:20s} {share:5.0%} {share * mean:6.1f} ms")
        whole = sum(numbers[2] for numbers in stats.values())
        mine = [
            (numbers[3], f"{Path(function[0]).name}:{function[2]}")
            for function, numbers in stats.items()
            if owner(function) == "fairdash"
        ]
        for taken, name in sorted(mine, reverse=True)[:n_most]:
            print(f"    with what it calls {taken / whole:5.0%}  {name}")
