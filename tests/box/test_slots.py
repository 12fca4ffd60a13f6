"""Several apps on one home folder share the places of the box."""

import subprocess
import sys
from contextlib import ExitStack

import pytest

from fairdash.box.slots import AT_ONCE, Slots

HOLD = """
import sys
from types import SimpleNamespace
from fairdash.box.slots import AT_ONCE, Slots
slots, process = Slots(), SimpleNamespace(lives=False)
places = [slots.at_work(sys.argv[1], process, None) for _ in range(AT_ONCE)]
for place in places:
    place.__enter__()
print(flush=True)
sys.stdin.read()
"""


class Process:
    lives = False


class Waited(Exception):
    """A request was told that it waits."""


def give_up(seconds, waiting):
    assert waiting
    raise Waited


def test_two_apps_have_no_more_at_work_together_than_one(tmp_path):
    homes = tmp_path / "ann", tmp_path / "bob"
    for home in homes:
        home.mkdir()
    here = Slots()
    there = Slots()
    ann, bob = map(str, homes)
    with ExitStack() as places:
        for number in range(AT_ONCE):
            app = (here, there)[number % 2]
            places.enter_context(app.at_work(ann, Process(), give_up))
        for app in (here, there):
            with pytest.raises(Waited), app.at_work(ann, Process(), give_up):
                pass
            with app.at_work(bob, Process(), give_up):
                pass
    with here.at_work(ann, Process(), give_up):
        pass


def test_an_app_that_is_killed_leaves_its_places(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    holder.stdout.readline()
    slots = Slots()
    with pytest.raises(Waited), slots.at_work(str(tmp_path), Process(), give_up):
        pass
    holder.kill()
    holder.communicate()
    with slots.at_work(str(tmp_path), Process(), give_up):
        pass
