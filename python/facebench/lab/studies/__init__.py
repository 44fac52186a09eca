"""Studies: tables of rows (what is trained, timed or given) and columns (what is measured), made by
one engine, with what papers print beside; see docs/studies.md.

>>> from facebench import studies
>>> low, high = studies.seed_interval([0.90, 0.92, 0.94])
>>> round(low, 3), round(high, 3)
(0.87, 0.97)
"""

from facebench.lab.studies.costs import measure_cost
from facebench.lab.studies.description import Study, Table, load_study, read_study, study_names
from facebench.lab.studies.exports import model_card, model_index
from facebench.lab.studies.fitting import fit
from facebench.lab.studies.seeds import paired, seed_interval
from facebench.lab.studies.shorter import (
    FACTORS,
    datasets_study,
    factors_study,
    suite,
    suite_study,
)
from facebench.lab.studies.whole import StudyResult, study

__all__ = [
    "FACTORS",
    "Study",
    "StudyResult",
    "Table",
    "datasets_study",
    "factors_study",
    "fit",
    "load_study",
    "measure_cost",
    "model_card",
    "model_index",
    "paired",
    "read_study",
    "seed_interval",
    "study",
    "study_names",
    "suite",
    "suite_study",
]
