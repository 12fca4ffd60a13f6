"""Train every method in every scene of the playground and pack what its page shows.

    python sample_data/make_surfaces.py [scene ...]

Run it after a change of a scene, a slider, a method or of what a page is sent. Until
then the page trains what has changed. All files may have 1.5 MB.
"""

import sys

from fairdash.audits import playground
from fairdash.audits.playground.views import FOLDER, write
from fairdash.jobs.aside import N_PROCESSES, Aside

MOST = 1_500_000  # bytes of all files
TRAIN = "fairdash.audits.playground:train_part"


def main() -> None:
    """Write a file per scene."""
    processes = Aside(N_PROCESSES)
    for scene in sys.argv[1:] or playground.SCENES:
        people = playground.SCENES[scene].people()
        stages = {
            name: playground.stages_of(method, people)
            for name, method in playground.METHODS.items()
        }
        calls = {
            name: [
                processes.call(TRAIN, people, name, part)
                for stage in stages_of_method
                for part in stage.parts
            ]
            for name, stages_of_method in stages.items()
        }
        views = {
            name: playground.join(
                [call.result() for call in calls[name]], stages[name][-1].stops
            )
            for name in playground.METHODS
        }
        write(scene, views)
    processes.close()
    total = sum(path.stat().st_size for path in FOLDER.glob("*.xz"))
    if total > MOST:
        raise SystemExit(f"The files may have {MOST:,} bytes and have {total:,}.")


if __name__ == "__main__":
    main()
