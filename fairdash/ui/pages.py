"""The pages, in the order of the menu: the one list of them.

Menu, titles, links between pages, the table in the README, pictures and tests read it.
A new page is a file in ``pages/``, named by number and name as Streamlit wants it, and
one `add(Page(...))` here.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal


@dataclass(frozen=True)
class Page:
    """A page of the app.

    Attributes
    ----------
    path : str
        Its file beside ``app.py``. The URL and the name follow from it.
    question : str
        The title: what the page answers. At most 26 characters fit on a phone.
    icon : str
        A Material symbol, in the menu.
    section : str
        The heading in the menu that it stands under; "" for none.
    about : str
        The question at more length, for the README.
    pick : {"run", "data"}, optional
        Whether the reader chooses a run or a data set in its corner.
    shows : bool
        Whether its URL may ask for the show mode.
    weighting : str
        Words before the name of the column that weighs rows; "" where none does.
    counting : str
        Likewise where the column counts people; by default the same words.
    """

    path: str
    question: str
    icon: str
    section: str = ""
    about: str = ""
    pick: Literal["run", "data"] | None = None
    shows: bool = False
    weighting: str = ""
    counting: str = ""

    @property
    def url_path(self) -> str:
        """Its place in the URL: the file's name without its number; "" for Home."""
        return PurePosixPath(self.path).stem.partition("_")[2]

    @property
    def name(self) -> str:
        """Its name in the menu."""
        return self.url_path.replace("_", " ") or "Home"


_PAGES: dict[str, Page] = {}


def add(page: Page) -> Page:
    """Add a page at the end of its section of the menu.

    Raises ValueError for a name that another page has.
    """
    if page.name in _PAGES:
        raise ValueError(
            f"There is a page {page.name!r} already, {_PAGES[page.name].path}. Give "
            f"{page.path} another name."
        )
    _PAGES[page.name] = page
    return page


def pages() -> tuple[Page, ...]:
    """Return all pages, in the order of the menu."""
    return tuple(page for listed in sections().values() for page in listed)


def sections() -> dict[str, list[Page]]:
    """Return the pages by their heading in the menu."""
    menu: dict[str, list[Page]] = {}
    for page in _PAGES.values():
        menu.setdefault(page.section, []).append(page)
    return menu


HOME = add(
    Page(
        "app.py",
        question="Where is a model unfair, and what does fixing it cost?",
        icon="home",
    )
)
DATA = add(
    Page(
        "pages/1_Data.py",
        question="What is in the table?",
        icon="table_view",
        section="Prepare",
        about="What is in the table, and what is doubtful about it?",
        pick="data",
    )
)
TRAIN = add(
    Page(
        "pages/2_Train.py",
        question="What does training change?",
        icon="model_training",
        section="Prepare",
        about="What does a method change, beside a plain model on the same rows?",
        pick="data",
        weighting="Training and figures weigh rows by",
        counting="Training and figures count people by",
    )
)
LOCAL_FAIRNESS = add(
    Page(
        "pages/3_Local_fairness.py",
        question="Where is the model unfair?",
        icon="troubleshoot",
        section="Understand",
        about="Where is the model unfair, and is it more than chance?",
        pick="run",
    )
)
WEIGHTS = add(
    Page(
        "pages/4_Weights.py",
        question="Which rows carry weight?",
        icon="balance",
        section="Understand",
        about="Which rows did ROAD and BROAD turn to?",
        pick="run",
        weighting="On top of the weights r, training weighs rows by",
        counting="On top of the weights r, training counts people by",
    )
)
PLAYGROUND = add(
    Page(
        "pages/13_Playground.py",
        question="What does a method do?",
        icon="gesture",
        section="Understand",
        about="What does each method do to people in a plane?",
    )
)
SWEEP = add(
    Page(
        "pages/5_Sweep.py",
        question="What does fairness cost?",
        icon="scatter_plot",
        section="Trade off",
        about="What does fairness cost, over all settings?",
        pick="run",
        shows=True,
        weighting="Training and figures weigh rows by",
        counting="Training and figures count people by",
    )
)
POST_PROCESS = add(
    Page(
        "pages/6_Post-process.py",
        question="Can thresholds fix it?",
        icon="tune",
        section="Trade off",
        about="Can thresholds by group correct the decisions?",
        pick="run",
        weighting="Thresholds and numbers of decisions weigh rows by",
        counting="Thresholds and numbers of decisions count people by",
    )
)
NOISY_GROUPS = add(
    Page(
        "pages/7_Noisy_groups.py",
        question="What if groups are wrong?",
        icon="blur_on",
        section="Stress-test",
        about="How many groups may be recorded wrongly before the promise breaks?",
        pick="run",
        weighting="Training weighs rows; here each counts once, without",
        counting="Training counts people; here people alike count once, without",
    )
)
INDIVIDUAL_FAIRNESS = add(
    Page(
        "pages/8_Individual_fairness.py",
        question="Are equals treated alike?",
        icon="person_search",
        section="Stress-test",
        about="Are similar people decided alike?",
        pick="run",
        weighting="Training weighs rows; here each counts once, without",
        counting="Training counts people; here people alike count once, without",
    )
)
DRIFT = add(
    Page(
        "pages/9_Drift.py",
        question="Does it hold elsewhere?",
        icon="moving",
        section="Stress-test",
        about="Does it hold in another year or place?",
        pick="run",
        weighting="Gaps and shifts weigh rows by",
        counting="Gaps and shifts count people by",
    )
)
LIMITS = add(
    Page(
        "pages/12_Limits.py",
        question="Does the table keep its limits?",
        icon="rule",
        section="Stress-test",
        about="Does a table keep the limits of a policy?",
        pick="data",
    )
)
MONITOR = add(
    Page(
        "pages/11_Monitor.py",
        question="Does the deployed model keep its limits?",
        icon="monitoring",
        section="Stress-test",
        about="Does a model in use still keep them?",
    )
)
RUNS = add(
    Page(
        "pages/10_Runs.py",
        question="What has been tried?",
        icon="history",
        section="Keep",
        about="What was trained, and what is kept?",
    )
)
