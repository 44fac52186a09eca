"""Studies: comparisons of many trainings, with intervals over seeds.

>>> from facebench import studies
>>> low, high = studies.seed_interval([0.90, 0.92, 0.94])
>>> round(low, 3), round(high, 3)
(0.87, 0.97)
"""

from facebench.studies.dataset_study import bench_compare_datasets
from facebench.studies.factors import FACTORS, bench_factors
from facebench.studies.seeds import paired, seed_interval
from facebench.studies.sweep import Study, bench_sweep, load_study, study_names

__all__ = [
    "FACTORS",
    "Study",
    "bench_compare_datasets",
    "bench_factors",
    "bench_sweep",
    "load_study",
    "paired",
    "seed_interval",
    "study_names",
]
