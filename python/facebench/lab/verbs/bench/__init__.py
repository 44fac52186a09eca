"""``facebench bench``: the papers' timing methods."""
