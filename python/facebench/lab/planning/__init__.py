"""Planning: how much data a statement takes, what a larger gallery does, where uncertainty is."""

from facebench._eval import GalleryOptions, PlanOptions
from facebench.lab.planning.gallery_sizes import gallery
from facebench.lab.planning.people_needed import plan
from facebench.lab.planning.variance_budget import budget

__all__ = ["GalleryOptions", "PlanOptions", "budget", "gallery", "plan"]
