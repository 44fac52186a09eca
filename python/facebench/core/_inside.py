"""Names of files that a file says: they lead below a folder that the caller gave, or nowhere."""

import os
from pathlib import Path, PurePosixPath

from facebench._eval import Error
from facebench.core._arguments import brief


def is_below(name) -> bool:
    """Whether a name leads below the folder that it is joined to, by its letters alone.

    >>> [is_below(name) for name in ("a/b.jpg", "../b.jpg", "a/../../b", "/etc/b", "", "a\\0b")]
    [True, False, False, False, False, False]
    """
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and path.parts != ()


def below(folder, name, where) -> Path:
    """``folder / name``. facebench.Error, which says ``where`` the name stands, for one that leads
    elsewhere."""
    if not is_below(name):
        raise Error(f"{where} names {brief(name)!r}, which does not lie below {brief(folder)}")
    return Path(folder) / name


def refuse_links(root, path) -> None:
    """facebench.Error where a folder or file on the way from ``root`` to ``path`` below it is a
    link: what is written there would lie elsewhere."""
    at = Path(root)
    for part in Path(path).relative_to(root).parts:
        at = at / part
        if os.path.islink(at):
            raise Error(f"{at}: is a link, and is not written through. Remove it")
