"""Errors, instruction sets, version: used by every other module."""

from facebench._eval import (
    Error,
    active_isa,
    available_processors,
    closest_name,
    compiler,
    cuda_devices,
    force_isa,
    parse_device,
    supported_isa,
    version,
)

__all__ = [
    "Error",
    "active_isa",
    "available_processors",
    "closest_name",
    "compiler",
    "cuda_devices",
    "force_isa",
    "parse_device",
    "supported_isa",
    "version",
]
