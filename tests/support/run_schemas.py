"""Files of run folders against their JSON schemas."""

import functools
import json
from pathlib import Path

from facebench import analysis


@functools.cache
def _validator(name):
    from jsonschema import Draft202012Validator

    return Draft202012Validator(analysis.schema(name))


def errors_of(name, data) -> list[str]:
    """What of a file's content is not as its schema says."""
    return [
        f"{'/'.join(map(str, e.path))}: {e.message}" for e in _validator(name).iter_errors(data)
    ]


def check_run(folder) -> None:
    """AssertionError for a run that was just saved and whose files are not as the schemas say."""
    for name in ("metrics", "run"):
        errors = errors_of(name, json.loads((Path(folder) / f"{name}.json").read_text()))
        assert not errors, f"{folder}/{name}.json: {errors[0]}"
