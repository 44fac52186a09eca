"""What a training's folder shows while it is filled: training.csv, report.html, TensorBoard."""

import time
from importlib.util import find_spec
from pathlib import Path

from facebench.core._above import from_above
from facebench.core._inside import refuse_links

# The page is not written again sooner, but at the end of the training always.
_PAGE_EVERY = 10.0  # seconds
_OURS = ".facebench"  # ends the names of event files; others beside them stay


class TrainingPages:
    """Follows ``log.jsonl``, which is the truth: all else is made from it, so that a training that
    was resumed has neither gaps nor doubles."""

    def __init__(self, folder):
        self._folder = Path(folder)
        self._trainings = from_above("trainings")  # what reports say of them
        self._page_at = None
        self._events = None
        self.begun = False

    def update(self, last=False):
        """After a checkpoint; ``last``: nothing follows."""
        self.begun = True
        training = self._trainings.read_training(self._folder)
        self._trainings.write_training_table(training, self._folder)
        now = time.monotonic()
        if last or self._page_at is None or now - self._page_at >= _PAGE_EVERY:
            self._trainings.write_training_page(training, self._folder)
            self._page_at = now
        if self._events is None and find_spec("tensorboard") is not None:
            self._events = _Events(self._folder / "tensorboard")
        if self._events is not None:
            self._events.add(training.rows, self._trainings.STEP_COLUMNS[1:])
            if last:
                self._events.close()


class _Events:
    """TensorBoard's event files, written by torch; those of an interrupted run are written anew."""

    def __init__(self, folder):
        from torch.utils.tensorboard import SummaryWriter

        refuse_links(folder.parent, folder)
        for old in folder.glob(f"events.out.tfevents.*{_OURS}"):
            old.unlink()
        self._writer = SummaryWriter(folder, filename_suffix=_OURS)
        self._steps, self._validated = -1, -1

    def add(self, rows, columns):
        """What the rows have in these columns beyond those of the last call."""
        for row in rows:
            step = row["iteration"]
            if "metric" in row and step > self._validated:
                tag = f"validation/{row['track']}/{row['metric']}"
                self._writer.add_scalar(tag, row["value"], step)
                self._validated = step
            if "loss" in row and step > self._steps:
                for key in columns:
                    if isinstance(row.get(key), (int, float)):
                        self._writer.add_scalar(f"training/{key}", row[key], step)
                self._steps = step
        self._writer.flush()

    def close(self):
        self._writer.close()
