"""The laboratory: studies of papers, other frameworks, timing, claims, diagnosis, planning.

It stands on the library, and nothing of the library stands on it. `facebench.claims`, `.studies`
and `.timing` are short names of its rooms.
"""
