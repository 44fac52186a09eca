"""One set of scores under every convention: the table of docs/metrics.md.

python tests/python/convention_example.py          prints it
python tests/python/convention_example.py --write  puts it into the page
"""

import sys
from pathlib import Path

import numpy as np
from facebench import metrics

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
BEGIN, END = "<!-- convention_example -->\n", "<!-- /convention_example -->"
FARS = (0.01, 0.001, 0.0001)


def scores():
    """5,000 genuine and 5,000 impostor cosines in ten folds, by plain arithmetic.

    Logistic quantiles in a fixed shuffle: the same on every machine, where a random normal number
    may differ in its last bit.
    """
    n = 5000
    order = np.arange(n) * 1237 % n  # 1237 and 5000 share no factor
    quantile = (order + 0.5) / n
    spread = np.round(0.06 * np.log(quantile / (1 - quantile)), 4)
    genuine = np.clip(0.62 + 1.3 * spread, -1, 1)
    impostor = np.clip(0.1 + spread, -1, 1)
    return (
        np.r_[genuine, impostor],
        np.repeat([1, 0], n),
        np.tile(np.arange(n) % 10, 2),
    )


def cell(comparisons, far, convention):
    try:
        result = metrics.tar_at_far(comparisons, far, convention)
    except ValueError:
        return "undefined"
    return f"{100 * result.value:.2f} ({result.false_accepts})"


def tables():
    comparisons = metrics.Comparisons(*scores())
    lines = [
        "| TAR [%] (false accepts) | "
        + " | ".join(
            f"FAR {100 * far:g} % ({far * comparisons.impostor:g} expected)" for far in FARS
        )
        + " |",
        "|---" * (len(FARS) + 1) + "|",
    ]
    for c in metrics.tar_at_far_conventions():
        cells = [cell(comparisons, far, c["name"]) for far in FARS]
        lines.append(f"| `{c['name']}` | " + " | ".join(cells) + " |")
    lines += [
        "",
        "| accuracy [%] | value | wrong of 10,000 | spread printed |",
        "|---|---|---|---|",
    ]
    for c in metrics.accuracy_conventions():
        a = metrics.accuracy(comparisons, c["name"])
        spread = "" if np.isnan(a.spread) else f"{100 * a.spread:.3f}"
        lines.append(f"| `{c['name']}` | {100 * a.value:.2f} | {a.wrong} | {spread} |")
    return "\n".join(lines) + "\n"


def of_page(text):
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip("\n") + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        text = PAGE.read_text()
        before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(text[:before] + "\n" + tables() + "\n" + text[after:])
    else:
        print(tables(), end="")
