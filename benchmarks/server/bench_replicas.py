"""Many analysts at several replicas: what a release takes at each, and what it costs.

Starts a Postgres, a provider of a login, replicas of the app and before them the
balancer of docs/deploy (Debian's Caddy, by its Caddyfile), all on this machine. Each
user has a finished sweep of 201 models (`bench_sliders`) in a home of their own.
Sessions log in through the balancer and open windows as a browser does, half of them on
Sweep, half on Local fairness; each lets go of a slider again and again.

In the middle of the time a replica is killed with all its processes, unless --keep is
said. Its windows are opened again by the same cookies, as a browser does, and go on.

Printed, replica by replica: windows, releases, how long they took (half of them, and
95 %), processor time of a release, memory before the first window and of each window;
then what was lost (logins, windows that did not come back, errors), how long moving
took, and from these how many analysts a core and a GB hold, where each lets go of a
slider every --acts seconds and a core is busy for --busy of its time.

It begins once every window stands and has let go of its slider at each measure: a first
answer of a run takes seconds, once for each replica.

    python benchmarks/server/bench_replicas.py [--replicas 3] [--sessions 60]
        [--users 6] [--seconds 60] [--every 4] [--rows 10000] [--keep]
"""

import argparse
import asyncio
import hmac
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
import websockets
from bench_load import N_MEASURES, PAGES, PATIENCE, Session
from bench_sliders import build
from bench_users import postgres, wait_until_no_engine
from processor_time import processor_seconds

from fairdash.store import User

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "helpers")]
from openid import Provider  # noqa: E402
from process_memory import family, memory  # noqa: E402
from replicas import balanced  # noqa: E402
from visitor import Visitor  # noqa: E402

RETRY_SECONDS = 0.5  # as a browser tries again to open its window


@dataclass
class Analyst:
    """A window of a user, the replicas it was at, and what it waited for."""

    visitor: Visitor
    page: str
    run: str
    first_place: str
    stands: bool = False  # its window is drawn, and first answers are made
    waits: list[tuple[str, float]] = field(default_factory=list)  # by replica
    moves: list[float] = field(default_factory=list)  # seconds until it stood again
    faults: list[str] = field(default_factory=list)


async def act(analyst, options, number):
    """Open a window and let go of its slider until the time is over."""
    rng = np.random.default_rng(number)
    lost = None  # since when
    while options.end is None or time.perf_counter() < options.end:
        try:
            async with websockets.connect(**analyst.visitor.handshake()) as socket:
                analyst.visitor.keep_cookies(socket)
                session = Session(socket, analyst.page, analyst.run)
                await asyncio.wait_for(session.ask(), PATIENCE)
                if lost is not None:
                    analyst.moves.append(time.perf_counter() - lost)
                    lost = None
                if not analyst.stands:
                    await let_first_answers_be_made(session)
                    analyst.stands = True
                await let_go(analyst, session, options, rng)
        except (RuntimeError, TimeoutError) as error:
            analyst.faults.append(repr(error))
            return
        except (OSError, websockets.WebSocketException) as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            if status in (401, 403):
                analyst.faults.append("the login was not known")
                return
            lost = lost or time.perf_counter()
            await asyncio.sleep(RETRY_SECONDS)
    if lost is not None:
        analyst.faults.append("the window did not come back")


async def let_first_answers_be_made(session):
    """Let go of the slider of a window once at each measure."""
    for change in range(N_MEASURES):
        place = str(1 + change) if session.page == "Sweep" else change
        await session.ask(change=place)


async def let_go(analyst, session, options, rng):
    """Let go of the slider of a window again and again."""
    place = analyst.visitor.place
    await options.ready.wait()
    await asyncio.sleep(options.every * rng.random())
    while time.perf_counter() < options.end:
        change = int(rng.integers(N_MEASURES))
        if analyst.page == "Sweep":
            change = str(1 + int(rng.integers(200)))  # after the plain model
        wait = await session.ask(change=change)
        analyst.waits.append((place, wait))
        await asyncio.sleep(max(0.0, options.every - wait))


def log_in(options, provider, address, runs):
    """Return the analysts, logged in; windows of a user share a login by turns."""
    analysts = []
    for number in range(options.sessions):
        user = number % options.users
        provider.claims = {"sub": str(user)}
        visitor = Visitor(address)
        visitor.log_in()
        page = PAGES[number // options.users % len(PAGES)]
        analysts.append(Analyst(visitor, page, runs[user], visitor.place))
    return analysts


async def use(options, analysts, replicas):
    """Let all analysts act; return the processor seconds of each replica by port."""
    options.ready = asyncio.Event()
    options.end = None
    tasks = [
        asyncio.create_task(act(analyst, options, number))
        for number, analyst in enumerate(analysts)
    ]
    while not all(analyst.stands or analyst.faults for analyst in analysts):
        await asyncio.sleep(0.2)
    before = {each.port: processor_seconds(each.process.pid) for each in replicas}
    options.bytes_after = sizes(replicas)
    options.end = time.perf_counter() + options.seconds
    options.ready.set()
    spent = {}
    if not options.keep:
        await asyncio.sleep(options.seconds / 2)
        lost = replicas[0]
        spent[lost.port] = processor_seconds(lost.process.pid) - before[lost.port]
        for process in family(lost.process.pid):
            with suppress(ProcessLookupError):  # it ended with another
                os.kill(process, signal.SIGKILL)
        lost.process.wait()
    await asyncio.gather(*tasks)
    for each in replicas[0 if options.keep else 1 :]:
        spent[each.port] = processor_seconds(each.process.pid) - before[each.port]
    return spent


def print_result(options, analysts, replicas, spent):
    """Print what each replica did, and what follows for analysts a core and a GB."""
    print(f"{len(analysts)} windows of {options.users} users, {len(replicas)} replicas")
    head = "replica  windows  releases  half  95 %  ms of a processor"
    print(f"{head}  MB before  MB a window")
    costs = []
    per_window = []
    for number, each in enumerate(replicas):
        place = place_of(each)
        waits = [
            1000 * wait for one in analysts for at, wait in one.waits if at == place
        ]
        n_windows = sum(one.first_place == place for one in analysts)
        if not waits or not n_windows:
            print(f"{number:7}  {n_windows:7}  no releases")
            continue
        cost = 1000 * spent[each.port] / len(waits)
        before = options.bytes_before[each.port] / 1e6
        size = (options.bytes_after[each.port] / 1e6 - before) / n_windows
        costs.append(cost)
        per_window.append(size)
        half, most = np.quantile(waits, (0.5, 0.95))
        print(
            f"{number:7}  {n_windows:7}  {len(waits):8}  {half:4.0f}  {most:4.0f}  "
            f"{cost:17.0f}  {before:9.0f}  {size:11.1f}"
        )
    moves = [seconds for one in analysts for seconds in one.moves]
    faults = [text for one in analysts for text in one.faults]
    print(f"windows that moved: {len(moves)}", end="")
    print(f", within {max(moves):.1f} s" if moves else "")
    print(f"lost: {len(faults)} {sorted(set(faults))[:3]}")
    a_core = 1000 * options.acts * options.busy / np.mean(costs)
    base = np.mean(list(options.bytes_before.values())) / 1e6
    a_gb = (1000 - base) / np.mean(per_window)
    print(
        f"a replica busy for {options.busy:.0%} of a core, a release every "
        f"{options.acts:g} s: {a_core:.0f} analysts a core"
    )
    print(f"the first GB of a replica holds {a_gb:.0f} windows")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--users", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=4)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--acts", type=float, default=50)
    parser.add_argument("--busy", type=float, default=0.5)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", FAIRDASH_LINGER="2")
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        os.environ["FAIRDASH_DATABASE"] = ends.enter_context(postgres())
        os.environ["FAIRDASH_FILES"] = f"file://{folder}/files"
        provider = ends.enter_context(Provider().open())
        homes = [folder / f"home{number}" for number in range(options.replicas)]
        ends.callback(wait_until_no_engine, homes)
        runs = []
        for number in range(options.users):
            user = User.of({"iss": provider.address, "sub": str(number)})
            runs.append(build(user.home(homes[0]), options.rows))
        served = balanced(folder, provider.address, homes)
        address, replicas = ends.enter_context(served)
        options.bytes_before = sizes(replicas)
        analysts = log_in(options, provider, address, runs)
        spent = asyncio.run(use(options, analysts, replicas))
        print_result(options, analysts, replicas, spent)


def sizes(replicas):
    """Return the memory of each replica that lives, with its children, by port."""
    return {
        each.port: memory(family(each.process.pid))
        for each in replicas
        if each.process.poll() is None
    }


def place_of(replica):
    """Return the cookie by which the balancer names a replica.

    Caddy makes a digest of its address, with no key.
    """
    address = f"127.0.0.1:{replica.port}".encode()
    return hmac.new(b"", address, sha256).hexdigest()


if __name__ == "__main__":
    main()
