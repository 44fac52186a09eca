"""Libraries of NIST's FRTE 1:1 (``libfrte_11_NAME_001.so``): a stranger's code, in a child process
(`process`); what it makes of a protocol (`scores`); and two photographs to a score."""

from facebench._frte.library import FrteLibrary, library_from, library_of, refuse_library

__all__ = ["FrteLibrary", "library_from", "library_of", "refuse_library"]
