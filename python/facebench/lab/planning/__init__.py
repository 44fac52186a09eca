"""Planning: how much data a statement takes, what a larger gallery does, where uncertainty is."""

from facebench._eval import GalleryOptions, PlanOptions
from facebench.lab.planning.budget import budget
from facebench.lab.planning.gallery import gallery
from facebench.lab.planning.plan import plan

__all__ = ["GalleryOptions", "PlanOptions", "budget", "gallery", "plan"]
