"""The log of a training to an accuracy, in the form of MLPerf's ``mllog``."""

import json
import math
import time
from pathlib import Path

from facebench import _eval


class MLLog:
    """Writes ``:::MLLOG`` lines: a training's start, epochs, validations and, where ``target`` is
    reached, its end. Give its methods to `facebench.train` as callbacks.

    ``path``: a new file (ValueError where it exists). ``recipe``: a `Recipe`. ``target``: the
    validation's value that ends the run in the log; the training itself goes on. Without one the
    run ends with the training. Times are milliseconds since 1970, and ``run_start`` comes before
    the images are read. Source: MLCommons, mlperf_logging, Training 4.

    >>> import tempfile, facebench
    >>> recipe = facebench.training.load_recipe("small4.softmax")
    >>> log = facebench.training.MLLog(tempfile.mkdtemp() + "/mllog.txt", recipe, target=0.9)
    >>> log.on_epoch({"epoch": 1, "iteration": 10, "validation": {"metric": "auc", "value": 0.95}})
    >>> log.end()
    >>> log.reached
    True
    """

    def __init__(self, path, recipe, target=None):
        path = Path(path)
        try:
            self._file = path.open("x", encoding="utf-8")
        except FileExistsError:
            raise ValueError(f"{path}: exists; a log is of one run. Take another name") from None
        self.reached = False
        self._target, self._ended, self._epoch = target, False, 0
        settings = recipe.to_dict()
        training, optimizer = settings["training"], settings["optimizer"]
        self._say("submission_benchmark", "face_recognition")
        self._say("submission_platform", f"facebench {_eval.version()}")
        self._interval("init", "START")
        for key, value in {
            "seed": training["seed"],
            "global_batch_size": training["batch"],
            "gradient_accumulation_steps": max(1, training["accumulate"]),
            "opt_name": optimizer["name"],
            "opt_base_learning_rate": optimizer["lr"],
            "opt_weight_decay": optimizer["weight_decay"],
            "network": settings["network"]["name"],
            "loss": settings["loss"]["name"],
        }.items():
            self._say(key, value)
        self._interval("init", "STOP")
        self._interval("run", "START")
        self._interval("epoch", "START", epoch_num=1)

    def __repr__(self):
        return f"MLLog({self._file.name})"

    def on_epoch(self, report, model=None) -> None:
        """Of an epoch: its end, and what the validation found."""
        self._epoch = int(report["epoch"])
        self._interval("epoch", "STOP", epoch_num=self._epoch)
        if "validation" in report:
            value = report["validation"]["value"]
            # Of an error rate the score is its negative: lower is better.
            score = report["validation"].get("score", value)
            self._say("eval_accuracy", value, epoch_num=self._epoch,
                      metric=report["validation"]["metric"])  # fmt: skip
            if self._target is not None and value is not None and self._is_met(value, score):
                self.reached = True
                self._stop("success")
        if not self._ended:
            self._interval("epoch", "START", epoch_num=self._epoch + 1)

    def end(self) -> None:
        """Of the training: the run ends here, unless it has reached its target before."""
        self._stop("success" if self._target is None else "aborted")
        self._file.close()

    def _is_met(self, value, score):
        lower = math.copysign(1, score) != math.copysign(1, value)
        return value <= self._target if lower else value >= self._target

    def _stop(self, status):
        if not self._ended:
            self._ended = True
            self._interval("run", "STOP", status=status, epoch_num=self._epoch)

    def _interval(self, key, event, **metadata):
        self._line(f"INTERVAL_{'START' if event == 'START' else 'END'}", f"{key}_{event.lower()}",
                   None, metadata)  # fmt: skip

    def _say(self, key, value, **metadata):
        self._line("POINT_IN_TIME", key, value, metadata)

    def _line(self, event, key, value, metadata):
        if self._ended and key != "run_stop":
            return
        record = {"namespace": "", "time_ms": int(time.time() * 1000), "event_type": event,
                  "key": key, "value": value,
                  "metadata": {"file": "facebench", "lineno": 0} | metadata}  # fmt: skip
        self._file.write(f":::MLLOG {json.dumps(record)}\n")
        self._file.flush()
