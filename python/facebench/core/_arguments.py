"""What messages say of arguments: types and shapes. Values are never printed."""

import ast
import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from facebench import _eval
from facebench._eval import closest_name

LONGEST = 500  # characters of a message about arguments, or of a foreign text in one


def _is_number(value) -> bool:
    scalar = hasattr(value, "__index__") or hasattr(value, "__float__")
    return scalar and not getattr(value, "shape", ())  # an array has both, and refuses


def _is_whole(value) -> bool:
    return _is_number(value) and not isinstance(value, float)


def _is_sequence(value) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes | dict)


# The last word of a type in a signature: what people call it, and what fits. Others are classes.
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("text", lambda v: isinstance(v, str)),
    "bool": ("True or False", lambda v: type(v).__name__ in ("bool", "bool_")),
    "int": ("a whole number", _is_whole),
    "SupportsInt": ("a whole number", _is_whole),
    "SupportsIndex": ("a whole number", _is_whole),
    "float": ("a number", _is_number),
    "SupportsFloat": ("a number", _is_number),
    "PathLike": ("a path", lambda v: hasattr(v, "__fspath__")),
    "None": ("None", lambda v: v is None),
    "Callable": ("a function", callable),
    "ArrayLike": ("an array of numbers", _is_sequence),
    "NDArray": ("an array of numbers", _is_sequence),
    "object": ("an object", lambda v: True),
}


def type_text(value) -> str:
    """What a value is, without the value.

    >>> import numpy as np
    >>> type_text(None), type_text(np.zeros((2, 3), np.float32)), type_text([1])
    ('None', 'an array (2, 3) of float32', 'list')
    """
    if value is None:
        return "None"
    if type(value).__name__ == "ndarray":
        return f"an array {value.shape} of {value.dtype.name}"
    return type(value).__name__


def of_kind(value, kind, name: str):
    """The value, where it is of the class (or of one of them); else TypeError names the argument.

    >>> of_kind("a", str, "text")
    'a'
    """
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        expected = " or ".join(k.__name__ for k in kinds)
        raise TypeError(f"{name}: expected {expected}, found {type_text(value)}")
    return value


def either_side(people) -> tuple:
    """Who is on either side of each comparison: a pair of sequences, or an array (2, N). ValueError
    for what is none.

    >>> either_side(("ab", "cd")), either_side([["a"], ["b"]])
    (('ab', 'cd'), (['a'], ['b']))
    """
    rows = isinstance(people, list | tuple) or getattr(people, "dtype", None) is not None
    if rows and len(people) == 2:
        return people[0], people[1]
    given = f"{len(people)} are given" if hasattr(people, "__len__") else type_text(people)
    raise ValueError(
        f"people: give a pair, who is on either side of each comparison, people=(a, b); {given}"
    )


def one_of(value, known, name: str):
    """The value, where it is one of some texts; else ValueError names them all.

    >>> one_of("html", ["html", "csv"], "format")
    'html'
    """
    if not isinstance(value, str) or value not in known:
        text = f"{name} is one of {', '.join(known)}, not {brief(value)}"
        raise ValueError(text + (did_you_mean(value, known) if isinstance(value, str) else ""))
    return value


def check_numbers(**numbers) -> None:
    """TypeError for what is not a number, ValueError for one below 0 or beyond 10^15; both name it.

    >>> check_numbers(seconds=0.5, rounds=3)
    """
    for name, value in numbers.items():
        if not _is_number(value) or isinstance(value, bool):
            raise TypeError(f"{name} must be a number, not {type_text(value)}")
        if not 0 <= value <= 1e15:
            raise ValueError(f"{name} must be from 0 to 10^15, not {float(value):g}")


def with_keys(value, keys: str, name: str) -> dict:
    """The value, where it is a dict that has some keys; else TypeError names what is missing.

    >>> with_keys({"id": 1}, "id", "fields")
    {'id': 1}
    """
    missing = [key for key in keys.split() if key not in of_kind(value, dict, name)]
    if missing:
        raise TypeError(f"{name} has no {', '.join(missing)}")
    return value


def mapping(value, name: str) -> dict:
    """A dict; an empty one for None. TypeError for anything else."""
    return {} if value is None else of_kind(value, dict, name)


def path_text(value, name: str) -> str:
    """A path as text; "" for None. TypeError for what is none."""
    return "" if value is None else os.fspath(of_kind(value, (str, os.PathLike), name))


def listed(values, name: str) -> list:
    """Texts, paths or objects as a list; none for None. TypeError for one text, which is not a
    list, and for an array of numbers, which may hold any number of them."""
    if values is None:
        return []
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if not _is_sequence(values) or getattr(values, "ndim", 1) != 1 or kind not in ("", "U", "O"):
        raise TypeError(f"{name}: expected a list, found {type_text(values)}")
    return list(values)


def brief(value) -> str:
    """A path or name for a message, shortened; of anything else its type.

    >>> brief("a" * 300)[-5:], brief([1, 2])
    ('a ...', 'list')
    """
    if not isinstance(value, str | os.PathLike):
        return type_text(value)
    text = os.fspath(value)
    return text if len(text) <= 200 else f"{text[:60]} ..."


def cut(text) -> str:
    """What another library or a file says, for a message: at most 500 characters.

    >>> len(cut("a" * 600)), cut("short")
    (500, 'short')
    """
    text = str(text).strip()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def printable(text: str) -> str:
    """Text of a file or a name as a terminal or a page may show it: control characters, marks of
    direction and bytes that are not UTF-8 become escapes.

    >>> printable("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return _eval.printable(text.encode("utf-8", "surrogateescape"))


def did_you_mean(name: str, known) -> str:
    """The known name that is nearest to an unknown one, for the end of a message; "" for none.

    >>> did_you_mean("markdwon", ["markdown", "latex"]), did_you_mean("x", ["markdown"])
    ("; did you mean 'markdown'?", '')
    """
    near = closest_name(name, list(known))
    return f"; did you mean '{near}'?" if near else ""


def tensor_array(tensor, name: str):
    """The numbers of a torch tensor as an array, whether or not it requires grad or lies on a GPU.
    TypeError where it has none at hand: on the device ``meta``, sparse, quantized, nested."""
    kinds = {
        "a nested one": tensor.is_nested,
        "one on the device meta": tensor.is_meta,
        "a quantized one": tensor.is_quantized,
        "a sparse one": str(tensor.layout) != "torch.strided",
    }
    if wrong := [kind for kind, holds in kinds.items() if holds]:
        raise TypeError(f"{name} must be a dense tensor that has values, not {wrong[0]}")
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    if plain.is_floating_point() and plain.element_size() < 4:
        plain = plain.float()  # the same numbers; numpy has no bfloat16
    return plain.numpy()


def plain_values(values, name: str):
    """An array, a tensor or numpy's number as Python's numbers: those of long doubles, too."""
    import numpy as np

    array = tensor_array(values, name) if hasattr(values, "detach") else np.asarray(values)
    if array.size > 100_000:
        raise ValueError(f"option {name} cannot be {type_text(array)}")
    return (array.astype(np.float64) if array.dtype == np.longdouble else array).tolist()


def unmasked(values, name: str):
    """The value, where it is not an array with a mask; else ValueError: as a plain array it would
    be what lies under the mask.

    >>> unmasked([1, 2], "scores")
    [1, 2]
    """
    import numpy as np

    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries, which have no value; leave them out first")
    return values


def whole_numbers(values, name: str) -> list[int]:
    """The values as ints: 2.0 is one, and 2.5, "a", None and NaN are errors (ValueError).

    >>> whole_numbers([0, 2.0], "labels")
    [0, 2]
    """
    entries = unmasked(values, name)
    entries = entries.tolist() if hasattr(entries, "tolist") else list(entries)
    for k, entry in enumerate(entries):
        try:
            entries[k] = int(entry)
        except (TypeError, ValueError, OverflowError):
            pass
        else:
            if isinstance(entry, str) or entries[k] == entry:
                continue
        raise ValueError(
            f"{name} [{k}] is {cut(entry)}, not a whole number. Names are numbered by "
            f"numpy.unique({name}, return_inverse=True)[1]"
        )
    return entries


def real_array(values, name: str):
    """``values`` as a float64 array. TypeError where they are not real numbers, ValueError where
    some are masked."""
    import numpy as np

    unmasked(values, name)
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of numbers, not {type_text(values)}") from None


@dataclass
class _Kind:
    """A type in a signature by its last word; of a sequence also what its elements may be, and the
    length that ``Annotated[..., "FixedSize(4)"]`` says."""

    word: str
    elements: "list[_Kind] | None" = None
    length: int | None = None

    def fits(self, value) -> bool:
        if self.elements is not None:
            whole = _is_sequence(value) and self.length in (None, len(value))
            return whole and all(_fits(self.elements, item) for item in value)
        if self.word in _KINDS:
            return _KINDS[self.word][1](value)
        return self.word in [base.__name__ for base in type(value).__mro__]

    def text(self) -> str:
        if self.elements is not None:
            return f"a sequence (each: {_kinds_text(self.elements)})"
        return _KINDS.get(self.word, (self.word,))[0]


def _kinds(annotation: ast.expr) -> list[_Kind]:
    """The alternatives of a type."""
    if isinstance(annotation, ast.BinOp):
        return _kinds(annotation.left) + _kinds(annotation.right)
    generic = annotation if isinstance(annotation, ast.Subscript) else None
    inner = generic.slice if generic else None
    name = ast.unparse(generic.value if generic else annotation).rpartition(".")[2]
    if name == "Annotated" and isinstance(inner, ast.Tuple):
        plain, *notes = inner.elts
        length = re.search(r"FixedSize\((\d+)\)", " ".join(map(ast.unparse, notes)))
        return [replace(kind, length=int(length[1]) if length else None) for kind in _kinds(plain)]
    if inner is None or name not in ("Sequence", "Iterable"):
        return [_Kind(name)]
    return [_Kind(name, _kinds(inner))]


def _fits(kinds: list[_Kind], value) -> bool:
    return any(kind.fits(value) for kind in kinds)


def _kinds_text(kinds: list[_Kind]) -> str:
    words = [kind.text() for kind in kinds]
    if "a path" in words:  # it may always be text, and bytes is nobody's first choice
        words = [word for word in words if word not in ("text", "bytes")]
    return " or ".join(dict.fromkeys(words))


def _complaint(name: str, kinds: list[_Kind], value) -> str:
    """Why a value does not fit, down to the element of a sequence."""
    sequence = next((kind for kind in kinds if kind.elements is not None), None)
    if sequence is not None and sequence.elements is not None and _is_sequence(value):
        if sequence.length not in (None, len(value)):
            return f"{name} must have {sequence.length} entries, not {len(value)}"
        for i, item in enumerate(value):
            if not _fits(sequence.elements, item):
                return _complaint(f"{name}[{i}]", sequence.elements, item)
    return f"{name} must be {_kinds_text(kinds)}, not {type_text(value)}"


def _holds_odd_text(value) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_odd_text, value))
    whole = isinstance(value, str) and value == value.encode("utf-8", "ignore").decode()
    return isinstance(value, str) and ("\0" in value or not whole)


def _signature(arguments: str) -> inspect.Signature | None:
    """A signature as the binding library writes it; annotations are syntax trees."""
    try:
        node = ast.parse(f"def f({arguments}): pass").body[0].args  # type: ignore[attr-defined]
    except SyntaxError:
        return None
    kind, ordered = inspect.Parameter, [*node.posonlyargs, *node.args]
    required = len(ordered) - len(node.defaults)
    parameters = [
        kind(
            a.arg,
            kind.POSITIONAL_OR_KEYWORD,
            default=kind.empty if i < required else ...,
            annotation=a.annotation,
        )
        for i, a in enumerate(ordered)
    ]
    parameters += [kind(node.vararg.arg, kind.VAR_POSITIONAL)] if node.vararg else []
    for a, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        default_value = kind.empty if default is None else ...
        parameters.append(
            kind(a.arg, kind.KEYWORD_ONLY, default=default_value, annotation=a.annotation)
        )
    parameters += [kind(node.kwarg.arg, kind.VAR_KEYWORD)] if node.kwarg else []
    return inspect.Signature(parameters)


def _judge(signature: inspect.Signature, args: tuple, kwargs: dict) -> tuple[int, str]:
    """How many arguments fit, and what is wrong with the first that does not."""
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        names = [name for name in signature.parameters if name != "self"]
        shown = "keywords alone" if names == ["kwargs"] else f"({', '.join(names)})"
        return -1, f"{error}; it takes {shown}"
    for i, (name, value) in enumerate(bound.items()):
        annotation = signature.parameters[name].annotation
        if isinstance(annotation, ast.expr) and not _fits(kinds := _kinds(annotation), value):
            return i, _complaint("the value" if name == "arg0" else name, kinds, value)
    if numbers := [n for n, v in bound.items() if type(v) is int]:
        return len(bound), f"{' or '.join(numbers)} is out of the range of its type"
    for name, value in bound.items():
        if _holds_odd_text(value):
            what = "a character that no name may hold: NUL, or half of one"
            return len(bound), f"{name} holds {what}"
    return len(bound), f"it does not take {', '.join(map(type_text, bound.values()))}"


def _explained(name: str, listed: str, args: tuple, kwargs: dict) -> str:
    """What is wrong with arguments, by the overload of which most fit. ``listed``: all overloads,
    as the binding library lists them."""
    best = (-2, "wrong arguments")
    for line in listed.partition("\n\nInvoked with:")[0].splitlines()[1:]:
        owner, _, rest = line.partition(". ")[2].partition("(")
        inner, arrow, _ = rest.rpartition(") -> ")
        signature = _signature(inner if arrow else rest.removesuffix(")"))
        name = owner.rpartition(".")[2] or name  # of a class: its constructor
        if signature:
            best = max(best, _judge(signature, args[1:] if owner else args, kwargs))
    if args and "(self: " in listed:
        name = f"{type(args[0]).__name__}.{name}".removesuffix(".")
    return f"{name}(): {best[1]}"


def message(error: Exception, args: tuple, kwargs: dict) -> str | None:
    """What an error of a compiled function says instead: which argument is wrong, the type wanted
    and the type given; of anything the two ends, where it is long. None: what it says itself."""
    text = str(error)
    name, wrong, listed = text.partition("(): incompatible ")
    wrong = wrong and len(name) < 100
    if wrong:
        text = _explained(name, listed, args, kwargs)
    bound = LONGEST if wrong or isinstance(error, ValueError | TypeError) else 4 * LONGEST
    if len(text) > bound:  # what is wrong stands first, what to do last
        text = f"{text[: LONGEST - 155]} ... {text[-150:]}"
    return text if text != str(error) else None


def number_and_first(names) -> str:
    """How many there are, and the first three: ``5 (a.webp, b.bmp, c.tiff, ...)``."""
    return f"{len(names)} ({', '.join(map(str, names[:3]))}{', ...' if len(names) > 3 else ''})"
