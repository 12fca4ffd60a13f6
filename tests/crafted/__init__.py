"""Files made to stop a server, or to read what is not theirs: a table a kind.

ONNX models stand in `crafted.models`, which needs onnx, and bundles of runs in
`crafted.bundles`, which are made of one that is trained.
"""

from crafted.archives import ARCHIVES
from crafted.case import Case
from crafted.configurations import CONFIGURATIONS
from crafted.costly import COSTLY
from crafted.damage import DAMAGE
from crafted.formats import FORMATS
from crafted.nested import NESTED
from crafted.parquets import PARQUETS
from crafted.swollen import SWELLING
from crafted.texts import TEXTS
from crafted.workbooks import WORKBOOKS

TABLES = {
    **WORKBOOKS, **DAMAGE, **ARCHIVES, **TEXTS, **PARQUETS, **NESTED, **SWELLING,
    **COSTLY, **FORMATS,
}  # fmt: skip
