"""LFW's list of pairs, for two folds of two matched and two mismatched pairs."""


def write_toy_lfw(folder):
    """Write ``pairs.txt`` into `folder`: two people with two images in each fold, two with one."""
    lines = ["2\t2"]
    for fold in "AB":
        lines += [f"{fold}{k}\t1\t2" for k in range(2)]
        lines += [f"{fold}{k}\t1\t{fold}{k + 2}\t1" for k in range(2)]
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
