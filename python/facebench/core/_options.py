"""Functions that take the fields of options classes as keywords."""

import inspect
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from facebench.core._arguments import did_you_mean

Function = TypeVar("Function", bound=Callable)
Keywords = TypeVar("Keywords", bound=Mapping[str, object])  # a dict, or a TypedDict of the stubs


class OptionsClass(Protocol):
    """A class of the compiled library that says which fields it has."""

    @staticmethod
    def fields() -> list: ...


def options_of(kind, options, keywords):
    """The options that were given, or those of the keywords. ValueError for both."""
    if options is not None and keywords:
        raise ValueError("give options or keywords, not both")
    return kind(**keywords) if options is None else options


def known(function: Callable, keywords: Keywords) -> Keywords:
    """The ``**options`` that were given to a function which `takes` fields. ValueError for a name
    that is neither a field nor a keyword of its own, with the nearest of all.

    >>> from facebench import protocols
    >>> known(protocols.evaluate, {"replicate": 10})
    Traceback (most recent call last):
    ValueError: evaluate takes no 'replicate'; did you mean 'replicates'?
    """
    names = inspect.signature(function).parameters
    for name in keywords:
        if name not in names:
            near = did_you_mean(name, names) or f". It takes {', '.join(names)}"
            raise ValueError(f"{function.__name__} takes no '{name}'{near}")
    return keywords


def signed(function, signature: inspect.Signature):
    """The function, which shows this signature in place of its own."""
    function.__signature__ = signature
    return function


def takes(*kinds: type[OptionsClass]) -> Callable[[Function], Function]:
    """Makes the signature of a function list the fields of options classes, with their defaults, in
    place of its ``**options``: for ``help()`` and for whoever completes names at a prompt. Editors
    and type checkers read the annotation of ``**options``, a TypedDict of the stubs.

    >>> from facebench import protocols
    >>> inspect.signature(protocols.evaluate).parameters["replicates"].default
    1000
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        shown = {n: p for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD}
        for field in (field for kind in kinds for field in kind.fields()):
            keyword = inspect.Parameter(
                field["name"], inspect.Parameter.KEYWORD_ONLY, default=field["default"]
            )
            shown.setdefault(field["name"], keyword)
        return signed(function, signature.replace(parameters=list(shown.values())))

    return decorate
