"""Evaluate scores that some other program made, under a protocol. Needs no torch.

python evaluate_scores.py SCORES.csv PROTOCOL ROOT   # a column "score", in the lists' order
python evaluate_scores.py                            # a small example of its own
"""

import sys
from pathlib import Path

import facebench
import numpy as np


def write_example(folder):
    """Pairs of 50 people, and scores of a system that is right most of the time."""
    random = np.random.default_rng(0)
    pairs, scores = ["first,second,label"], ["score"]
    for person in range(50):
        for k in range(1, 9):
            for first, other in ((0, person), (k, (person + k) % 50)):
                same = int(person == other)
                pairs.append(f"person{person}/{first}.jpg,person{other}/{k}.jpg,{same}")
                scores.append(str(0.2 + 0.4 * same + 0.15 * random.normal()))
    folder.mkdir(exist_ok=True)
    (folder / "pairs.csv").write_text("\n".join(pairs) + "\n")
    (folder / "scores.csv").write_text("\n".join(scores) + "\n")


def main(arguments):
    if arguments:
        scores, protocol, root = arguments
    else:
        root = Path("evaluate-scores-example")
        write_example(root)
        scores, protocol = root / "scores.csv", "pairs"
    result = facebench.evaluate(
        protocol, scores=scores, root=root, out=Path(root) / "run", overwrite=True, replicates=500
    )
    print(result)  # every number with its interval
    assert facebench.verify(Path(root) / "run").same


if __name__ == "__main__":
    main(sys.argv[1:])
