"""Studies: comparisons of many trainings, with intervals over seeds.

>>> from facebench import studies
>>> low, high = studies.seed_interval([0.90, 0.92, 0.94])
>>> round(low, 3), round(high, 3)
(0.87, 0.97)
"""

from facebench.studies.dataset_study import bench_compare_datasets
from facebench.studies.factors import FACTORS, bench_factors
from facebench.studies.seeds import paired, seed_interval

__all__ = ["FACTORS", "bench_compare_datasets", "bench_factors", "paired", "seed_interval"]
