"""The list of everybody else: a data set kept to people of a list."""

from facebench import _eval, _library  # noqa: F401
from facebench._full import read_dataset, read_exclusion
from facebench.core import Error
from facebench.core._arguments import brief, path_text


def keep(people, root, dataset="folder", *, least=1):
    """A list for ``exclude=`` that leaves only some people of a data set.

    ``people``: a list (`peopleDevTrain.txt` of LFW, or a name a line) or a sequence of names;
    ``least``: only those with so many images or more. Returns ``(text, kept, images)``: the list of
    all others, and how many people and images stay. Error for a person who is not there.

    >>> import pathlib, tempfile, numpy as np
    >>> from facebench import datasets, images
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("Ann/1.png", "Ann/2.png", "Bob/1.png", "Cat/1.png"):
    ...     (root / name).parent.mkdir(exist_ok=True)
    ...     images.write(root / name, np.zeros((8, 8, 3), np.uint8))
    >>> datasets.keep(["Ann"], root)
    ('# kept: 1 of 3 people\\nperson\\tBob\\nperson\\tCat\\n', 1, 2)
    """
    images = read_dataset(dataset, path_text(root, "root"))
    count = dict.fromkeys(images.label_names, 0)
    for sample in images.samples:
        if sample.label >= 0:
            count[images.label_names[sample.label]] += 1
    known = {_eval.compared_name(name): name for name in count}
    if isinstance(people, (list, tuple, set)):
        asked = dict.fromkeys(_eval.compared_name(name) for name in people)
    else:
        listed = read_exclusion(path_text(people, "people"), keeps=True)
        if listed["samples"]:
            raise Error(f"{people}: names images, too; only= (--only) takes such a list as it is")
        asked = dict.fromkeys(listed["people"])
    named = [known.get(name, name) for name in asked]
    missing = [name for name in asked if name not in known]
    if missing:
        raise Error(
            f"{root}: {len(missing)} of {len(named)} people of the list are not there, the first "
            f"is {brief(missing[0])}"
        )
    wanted = {name for name in named if count[name] >= least}
    if not wanted:
        raise Error(f"{root}: nobody of the list has {least} images")
    others = "".join(f"person\t{name}\n" for name in count if name not in wanted)
    text = f"# kept: {len(wanted)} of {len(count)} people\n{others}"
    return text, len(wanted), sum(count[name] for name in wanted)
