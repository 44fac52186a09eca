"""Synthetic faces in LFW's folders, with its list of pairs."""

from facebench import datasets


def lfw_like(root, people=40, images=2, size=64, pairs_per_fold=4):
    """The folder ``root``, which is made."""
    options = datasets.SyntheticOptions(
        people=people, images=images, size=size, pairs_per_fold=pairs_per_fold
    )
    datasets.write_synthetic_dataset(options, root)
    return root
