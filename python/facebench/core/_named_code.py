"""Code that a text names, ``module:function``: the one place where a text becomes an import."""

import contextlib
import importlib
import keyword
import os
import re
import sys

from facebench.core._arguments import brief


def is_named_function(text: str) -> bool:
    """Whether a text is ``module:function``: names of Python with dots between, one colon, a name.

    >>> [is_named_function(text) for text in ("a.b:c", "hf://org/model", "a:b:c", "a:if")]
    [True, False, False, False]
    """
    module, _, name = text.partition(":")
    parts = [*module.split("."), name]
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in parts)


def is_address(text: str) -> bool:
    """Whether a text is an address of something elsewhere, and no file that is there.

    >>> is_address("hf://org/model"), is_address("C:/models/face.onnx")
    (True, False)
    """
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text)) and not os.path.exists(text)


def check_named_function(text: str, expected: str) -> None:
    """ValueError, which says what is ``expected`` and what to do, where it is no
    ``module:function``. Nothing is imported."""
    if is_named_function(text):
        return
    advice = "module:function is names of Python with dots between, one colon and one name"
    if is_address(text):
        advice = "addresses are not read: download the file, and give its path"
    raise ValueError(f"'{brief(text)}' is not a model: expected {expected}; {advice}")


def import_function(text: str, expected: str):
    """The callable that ``module:function`` names. ValueError as of `check_named_function`, and
    where there is none.

    >>> import_function("math:sqrt", "module:function")(4.0)
    2.0
    """
    check_named_function(text, expected)
    module, _, name = text.partition(":")
    # A module beside the caller's files; only now, since that folder may hold a stranger's.
    with contextlib.suppress(FileNotFoundError):  # the working folder may be gone
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{text!r}: {error}") from None
    if not callable(function):
        raise ValueError(f"{text!r} is not callable")
    return function
