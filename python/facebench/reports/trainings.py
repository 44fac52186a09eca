"""Training folders: what ``log.jsonl`` says as rows, curves and a page."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from facebench import _eval
from facebench.analysis.runs import as_list
from facebench.core import Error
from facebench.core._arguments import brief, listed, of_kind
from facebench.core._files import read_text
from facebench.reports.escape import escape_markdown, spreadsheet
from facebench.reports.markdown import markdown_table
from facebench.reports.page import Section, plots, table_block, text, write_html, write_text
from facebench.reports.plots import steps_svg

# The columns of training.csv: of a line of the log, and of a validation after the same step.
STEP_COLUMNS = [
    *("iteration", "epoch", "loss", "accuracy", "lr", "images_per_second", "seconds_left"),
    *("memory", "target_cosine", "violated", "norm_p05", "norm_p50", "norm_p95", "gradient_norm"),
]
_VALIDATION = ["track", "metric", "value", "low", "high"]
TRAINING_COLUMNS = [*STEP_COLUMNS, *_VALIDATION]

_SHOWN = 400  # points of a curve

# (what the caption says, key, title of the axis)
_CURVES = (
    ("Loss, mean over the images since the line before", "loss", "loss"),
    ("Accuracy on the training images, margins left out", "accuracy", "accuracy"),
    ("Learning rate", "lr", "rate"),
    ("Mean cosine of an image's features and the weights of its class", "target_cosine", "cosine"),
    (
        "Violated margins: share of images whose own class, its margin taken off, is not above all "
        "others",
        "violated",
        "share",
    ),
    ("Gradient norm, before clipping", "gradient_norm", "norm"),
    ("Images a second", "images_per_second", "images/s"),
    ("Memory of the process", "memory", "MB"),
)


@dataclass
class Training:
    """What a folder holds of a training that goes on, is over, was stopped or has diverged."""

    title: str
    rows: list = field(default_factory=list)  # dicts with TRAINING_COLUMNS, one a step, ascending
    diverged: dict | None = None
    content: dict = field(default_factory=dict)  # of run.json, or of the newest checkpoint
    done: bool = False
    day: str = ""  # on which it began

    def points(self, key):
        """The steps that have a number under this key, and the numbers."""
        points = [
            (r["iteration"], r[key]) for r in self.rows if isinstance(r.get(key), (int, float))
        ]
        return [step for step, _ in points], [value for _, value in points]

    def last(self, key):
        values = self.points(key)[1]
        return values[-1] if values else None


def is_training(folder) -> bool:
    """Whether a folder is that of a training.

    >>> from facebench.reports.trainings import is_training
    >>> is_training(".")
    False
    """
    return os.path.isfile(os.path.join(folder, "log.jsonl"))


def read_training(folder, title=None) -> Training:
    """A training's folder; facebench.Error where there is none."""
    folder = Path(folder)
    if not is_training(folder):
        raise Error(f"{brief(folder)}: not the folder of a training: it has no log.jsonl.")
    training = Training(
        of_kind(title, (str, type(None)), "title") or os.path.basename(os.path.abspath(folder))
    )
    rows: dict[int, dict] = {}
    for number, record in enumerate(read_text(folder / "log.jsonl").splitlines(), 1):
        try:
            line = json.loads(record)
            step = line["iteration"]
        except (ValueError, KeyError, TypeError):
            # A process that was killed leaves half a line at the end.
            break
        if "diverged" in line:
            training.diverged = line
        elif "loss" in line or "metric" in line:
            columns = _VALIDATION if "metric" in line else STEP_COLUMNS
            row = rows.setdefault(step, {"iteration": step, "epoch": line.get("epoch")})
            row |= {key: line[key] for key in columns if key in line}
        elif "excluded" not in line:
            raise Error(f"{folder / 'log.jsonl'}:{number}: not a line of a training's log.")
    training.rows = [rows[step] for step in sorted(rows)]
    training.done = os.path.isfile(folder / "run.json")
    if training.done:
        manifest = _eval.read_manifest(folder / "run.json")
        training.content = manifest["content"]
        training.day = manifest["circumstance"].get("started", "")[:10]
    else:
        training.content = _checkpointed(folder / "checkpoints")
    return training


def _checkpointed(folder) -> dict:
    """What the newest checkpoint says of the training; {} where there is none that can be read."""
    from safetensors import SafetensorError, safe_open  # reports work without it

    checkpoints = sorted(folder.glob("step-*.safetensors"), key=lambda p: (len(p.name), p.name))
    unreadable = (SafetensorError, OSError, ValueError, KeyError, TypeError)
    with suppress(*unreadable), safe_open(checkpoints[-1] if checkpoints else "", "numpy") as file:
        return json.loads(file.metadata()["state"])["identity"]
    return {}


def training_rows(trainings, titles=None) -> list[dict]:
    """A dict for each logged step of each training: ``training``, and the columns of
    ``training.csv``."""
    return [
        {"training": t.title, **{key: row.get(key) for key in TRAINING_COLUMNS}}
        for t in _read_all(trainings, titles)
        for row in t.rows
    ]


def _read_all(folders, titles):
    folders = as_list(folders)
    titles = listed(titles, "titles") or [None] * len(folders)
    if len(titles) != len(folders):
        raise ValueError(f"{len(titles)} titles for {len(folders)} trainings")
    return [
        f if isinstance(f, Training) else read_training(f, t)
        for f, t in zip(folders, titles, strict=True)
    ]


def _csv(columns, rows):
    return spreadsheet([columns, *([row.get(c) for c in columns] for row in rows)])


def _thinned(steps, values):
    """At most _SHOWN points: means of as many neighbours."""
    each = -(-len(steps) // _SHOWN) if steps else 1
    if each == 1:
        return steps, values
    groups = [slice(i, i + each) for i in range(0, len(steps), each)]
    return [steps[g][-1] for g in groups], [sum(values[g]) / len(values[g]) for g in groups]


def _scaled(key, values):
    return [v / 1e6 for v in values] if key == "memory" else values


def _plot(trainings, caption, key, y_title):
    curves = []
    for i, t in enumerate(trainings):
        steps, values = _thinned(*t.points(key))
        if steps:
            curves.append((t.title, i, steps, _scaled(key, values)))
    if not curves:
        return None
    return steps_svg(curves, caption, y_title, signed=key == "target_cosine"), caption


def _norms(trainings):
    curves, bands = [], []
    for i, t in enumerate(trainings):
        low, middle, high = (_thinned(*t.points(f"norm_p{p}")) for p in ("05", "50", "95"))
        if middle[0]:
            curves.append((t.title, i, *middle))
            bands.append((i, low[0], low[1], high[1]))
    caption = "Norms of the features: the median, and from the 5th to the 95th percentile"
    if not curves:
        return None
    return steps_svg(curves, caption, "norm", bands), caption


def _validations(trainings):
    names = sorted({(r["track"], r["metric"]) for t in trainings for r in t.rows if "metric" in r})
    drawn = []
    for track, metric in names:
        curves, bands = [], []
        for i, t in enumerate(trainings):
            rows = [r for r in t.rows if (r.get("track"), r.get("metric")) == (track, metric)]
            if not rows:
                continue
            steps = [r["iteration"] for r in rows]
            curves.append((t.title, i, steps, [r["value"] for r in rows]))
            known = [r for r in rows if r.get("low") is not None]
            if known:
                ends = [[r[key] for r in known] for key in ("low", "high")]
                bands.append((i, [r["iteration"] for r in known], *ends))
        caption = f"Validation: {metric} of {track}" + (", interval at 95 %" if bands else "")
        drawn.append((steps_svg(curves, caption, metric, bands), caption))
    return drawn


def _number(value, digits=4):
    return "–" if value is None else f"{value:.{digits}g}"


def _facts(t):
    content = t.content
    recipe = content.get("recipe", {})
    result = content.get("result", {})
    state = "diverged" if t.diverged else "done" if t.done else "not over"
    last = t.rows[-1]["iteration"] if t.rows else 0
    validated = [r for r in t.rows if "metric" in r]
    judged = validated[-1] if validated else None
    memory = [r["memory"] for r in t.rows if r.get("memory")]
    return {
        "state": f"{state}, step {last}",
        "recipe": content.get("recipe_id", "–"),
        "network": recipe.get("network", {}).get("name", "–"),
        "loss": recipe.get("loss", {}).get("name", "–"),
        "began with": _beginning(content.get("begun_with")),
        "frozen": ", ".join(recipe.get("training", {}).get("freeze", [])) or "–",
        "images": str(content.get("images", "–")),
        "people": str(content.get("classes", "–")),
        "mean loss, last line of the log": _number(t.last("loss")),
        "mean loss, last epoch": _number(result.get("loss")),
        "accuracy, last line of the log": _number(t.last("accuracy")),
        "last validation": f"{judged['metric']} {_number(judged['value'])}" if judged else "–",
        "best score": _number(result.get("best_score")),
        "images a second": f"{pace:.0f}" if (pace := t.last("images_per_second")) else "–",
        "most memory, MB": f"{max(memory) / 1e6:.0f}" if memory else "–",
    }


def _beginning(begun):
    """The weights that it began with, where they were not a recipe's initial ones."""
    if not begun:
        return "–"
    if "training_run" in begun and "iterations" in begun:
        return f"a training of {begun['iterations']} steps, run {begun['training_run'][:12]}"
    sha256 = begun.get("sha256") or begun.get("file_sha256") or begun.get("weights_sha256", "")
    return f"{begun.get('file') or begun.get('name', '')}, SHA-256 {sha256[:12]}"


def _fact_rows(trainings):
    """A row for each thing that is known of any of them."""
    facts = [_facts(t) for t in trainings]
    rows = [[key, *(f[key] for f in facts)] for key in facts[0]]
    return [row for row in rows if set(row[1:]) != {"–"}]


def trainings_sections(trainings, titles=None) -> list:
    """The sections of a page on one training, or on several side by side."""
    read = _read_all(trainings, titles)
    table = _fact_rows(read)
    blocks = [table_block(["", *(t.title for t in read)], table)]
    for t in read:
        if t.diverged:
            d = t.diverged
            sentence = (
                f"{t.title} diverged: {d['diverged']}. Rate {_number(d['lr'])}, loss of the step "
                f"before {_number(d['last_loss'])}; not finite: "
                f"{100 * d['non_finite_weights']:.3g} % of the weights and "
                f"{100 * d['non_finite_gradients']:.3g} % of the gradients."
            )
            blocks.append(text(sentence))
        blocks += [text(note) for note in t.content.get("notes", [])]
    drawn = [_plot(read, *curve) for curve in _CURVES]
    drawn = [*_validations(read), *filter(None, [*drawn[:5], _norms(read), *drawn[5:]])]
    sections = [Section("Training" if len(read) == 1 else "Trainings", blocks)]
    if drawn:
        note = "Margins and norms are those of the one step that a line of the log ends with."
        sections.append(Section("Curves", [plots(*drawn), text(note)]))
    rows = [
        [t.title, r["iteration"], r["track"], r["metric"], (r["value"], _interval(r))]
        for t in read
        for r in t.rows
        if "metric" in r
    ]
    if rows:
        columns = ["training", "step", "track", "metric", "value"]
        table = table_block(columns, rows, f"{len(rows)} validations")
        sections.append(Section("Validations", [table]))
    return sections


def _interval(row):
    return "" if row.get("low") is None else f"{row['low']:.4g} to {row['high']:.4g}"


def trainings_table(trainings, format="markdown", titles=None) -> str:
    """Trainings side by side as text: markdown, or csv with a row for each logged step."""
    if of_kind(format, str, "format") == "csv":
        return _csv(["training", *TRAINING_COLUMNS], training_rows(trainings, titles))
    if format != "markdown":
        raise ValueError(
            f"of trainings there is markdown, csv, html and frame, not {brief(format)}"
        )
    read = _read_all(trainings, titles)
    titles = [escape_markdown(t.title) for t in read]
    return markdown_table(["", *titles], _fact_rows(read)) + "\n"


def write_training_table(training: Training, folder) -> None:
    """Write ``training.csv`` into a training's folder."""
    of_kind(training, Training, "training")
    write_text(Path(folder) / "training.csv", _csv(TRAINING_COLUMNS, training.rows))


def write_training_page(training: Training, folder) -> None:
    """Write ``report.html`` into a training's folder."""
    subtitle = [training.content.get("recipe_id"), training.day and f"begun {training.day}"]
    title = f"Training {training.title}"
    sections = trainings_sections([training])
    write_html(Path(folder) / "report.html", title, sections, ", ".join(filter(None, subtitle)))
