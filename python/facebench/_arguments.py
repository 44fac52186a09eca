"""What stands between Python and the compiled modules: a wrong argument gives one sentence.

The binding library answers a wrong argument with all its signatures in the words of typing and the
``repr`` of everything it was given. :func:`guard` puts a function around every function, method and
property of a compiled module, once, that turns this into a sentence: which argument, the type
wanted, the type given. Values are never printed.
"""

import ast
import functools
import inspect
import os
from types import ModuleType

from facebench import _eval

LONGEST = 500  # characters of a message about arguments

# The last word of a type as signatures write it: its name to people, and what belongs to it.
_SIMPLE = {
    "str": ("text", lambda v: isinstance(v, str)),
    "bytes": ("bytes", lambda v: isinstance(v, bytes | bytearray)),
    "bool": ("True or False", lambda v: isinstance(v, bool) or type(v).__name__ == "bool"),
    "SupportsInt": ("a whole number", lambda v: _whole(v)),
    "SupportsIndex": ("a whole number", lambda v: _whole(v) and hasattr(v, "__index__")),
    "int": ("a whole number", lambda v: _whole(v) and hasattr(v, "__index__")),
    "SupportsFloat": ("a number", lambda v: _number(v)),
    "float": ("a number", lambda v: _number(v)),
    "PathLike": ("a path", lambda v: hasattr(v, "__fspath__")),
    "Path": ("a path", lambda v: hasattr(v, "__fspath__") or isinstance(v, str)),
    "None": ("None", lambda v: v is None),
    "Callable": ("a function", callable),
    "dict": ("a dict", lambda v: isinstance(v, dict)),
    "list": ("a list", lambda v: isinstance(v, list | tuple)),
    "tuple": ("a tuple", lambda v: isinstance(v, list | tuple)),
    "Mapping": ("a dict", lambda v: hasattr(v, "keys")),
    "ArrayLike": ("an array of numbers", lambda v: _is_array(v)),
    "NDArray": ("an array of numbers", lambda v: _is_array(v)),
}
_SEQUENCES = {"Sequence", "Iterable", "list", "List", "set", "Set", "FixedSize"}
_ANYTHING = {"object", "Any", "args", "kwargs"}


def _whole(value) -> bool:
    if isinstance(value, str | bytes | float) or getattr(value, "shape", ()):
        return False  # an array has what makes a number of it, and mostly refuses
    return hasattr(value, "__int__") or hasattr(value, "__index__")


def _number(value) -> bool:
    if getattr(value, "shape", ()):
        return False
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _odd_text(value) -> bool:
    if isinstance(value, str):
        return "\0" in value or value != value.encode("utf-8", "ignore").decode()
    return isinstance(value, list | tuple) and any(
        isinstance(v, str) and _odd_text(v) for v in value
    )


def _is_array(value) -> bool:
    if isinstance(value, str | bytes | dict) or value is None:
        return False
    import numpy as np  # not needed where nothing is wrong

    try:
        return np.asarray(value).dtype.kind in "fiubc"
    except (TypeError, ValueError, RuntimeError):
        return False


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


def brief(value) -> str:
    """A path or name for a message, shortened; of anything else its type.

    >>> brief("a" * 300)[-5:], brief([1, 2])
    ('a ...', 'list')
    """
    if not isinstance(value, str | os.PathLike):
        return type_text(value)
    text = os.fspath(value)
    return text if len(text) <= 200 else f"{text[:60]} ..."


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


def real_array(values, name: str):
    """``values`` as a float64 array. TypeError where they are no real numbers."""
    import numpy as np

    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of numbers, not {type_text(values)}") from None


def _alternatives(wanted: ast.expr) -> list[ast.expr]:
    if isinstance(wanted, ast.BinOp):
        return _alternatives(wanted.left) + _alternatives(wanted.right)
    if isinstance(wanted, ast.Subscript) and _word(wanted.value) in ("Union", "Optional"):
        inner = wanted.slice.elts if isinstance(wanted.slice, ast.Tuple) else [wanted.slice]
        more = [ast.Constant(None)] if _word(wanted.value) == "Optional" else []
        return [one for part in inner for one in _alternatives(part)] + more
    if isinstance(wanted, ast.Subscript) and _word(wanted.value) == "Annotated":
        return _alternatives(wanted.slice.elts[0])
    return [wanted]


def _word(wanted: ast.expr) -> str:
    if isinstance(wanted, ast.Attribute):
        return wanted.attr
    if isinstance(wanted, ast.Subscript):
        return _word(wanted.value)
    return wanted.id if isinstance(wanted, ast.Name) else str(getattr(wanted, "value", ""))


def _element(wanted: ast.expr) -> ast.expr | None:
    """The type of the elements of a sequence; None for what is no sequence of one type."""
    if not isinstance(wanted, ast.Subscript) or _word(wanted) not in _SEQUENCES:
        return None
    return wanted.slice.elts[0] if isinstance(wanted.slice, ast.Tuple) else wanted.slice


def _is_sequence(value) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes | dict)


def _fits(wanted: ast.expr, value) -> bool:
    for one in _alternatives(wanted):
        word = _word(one)
        element = _element(one)
        if element is not None:
            fits = _is_sequence(value) and all(_fits(element, item) for item in value)
        elif word in _SIMPLE:
            fits = _SIMPLE[word][1](value)
        else:
            fits = word in _ANYTHING or any(k.__name__ == word for k in type(value).__mro__)
        if fits:
            return True
    return False


def _wanted_text(wanted: ast.expr) -> str:
    words = []
    for one in _alternatives(wanted):
        element = _element(one)
        if element is not None:
            text = f"a sequence (each: {_wanted_text(element)})"
        else:
            text = _SIMPLE.get(_word(one), (_word(one),))[0]
        if text not in words:
            words.append(text)
    if "a path" in words:  # a path may always be text, and bytes is nobody's first choice
        words = [w for w in words if w not in ("text", "bytes")]
    return " or ".join(words)


def _complaint(name: str, wanted: ast.expr, value) -> str:
    """Why the value of an argument does not fit, down to the element of a sequence."""
    elements = [e for e in map(_element, _alternatives(wanted)) if e is not None]
    if elements and _is_sequence(value):
        for i, item in enumerate(value):
            if not _fits(elements[0], item):
                return f"{name}[{i}] must be {_wanted_text(elements[0])}, not {type_text(item)}"
    return f"{name} must be {_wanted_text(wanted)}, not {type_text(value)}"


def _parsed(line: str) -> tuple[inspect.Signature, bool] | None:
    """One line of the binding library's list of signatures, and whether it is a constructor's."""
    _, _, text = line.strip().partition(". ")
    head, opened, rest = text.partition("(")
    if not opened:
        return None
    try:
        node = ast.parse(f"def f({rest.partition(') ->')[0].removesuffix(')')}): pass").body[0].args
    except SyntaxError:
        return None
    kind = inspect.Parameter
    ordered = [*node.posonlyargs, *node.args]
    defaults = [kind.empty] * (len(ordered) - len(node.defaults)) + [...] * len(node.defaults)
    made = [
        kind(a.arg, kind.POSITIONAL_OR_KEYWORD, default=d, annotation=a.annotation)
        for a, d in zip(ordered, defaults, strict=True)
    ]
    if node.vararg:
        made.append(kind(node.vararg.arg, kind.VAR_POSITIONAL))
    for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        default = kind.empty if d is None else ...
        made.append(kind(a.arg, kind.KEYWORD_ONLY, default=default, annotation=a.annotation))
    if node.kwarg:
        made.append(kind(node.kwarg.arg, kind.VAR_KEYWORD))
    return inspect.Signature(made), bool(head)


def _shown(signature: inspect.Signature) -> str:
    names = [name for name in signature.parameters if name != "self"]
    return "it takes keywords alone" if names == ["kwargs"] else f"it takes ({', '.join(names)})"


def _judge(signature: inspect.Signature, args: tuple, kwargs: dict) -> tuple[int, str]:
    """How many arguments fit, and what is wrong with the first that does not ("": all fit)."""
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        return -1, f"{error}; {_shown(signature)}"
    for i, (name, value) in enumerate(given.items()):
        wanted = signature.parameters[name].annotation
        if isinstance(wanted, ast.expr) and not _fits(wanted, value):
            return i, _complaint("the value" if name == "arg0" else name, wanted, value)
    numbers = [n for n, v in given.items() if isinstance(v, int) and not isinstance(v, bool)]
    if numbers:
        return len(given), f"{' or '.join(numbers)} is out of the range of its type"
    for name, value in given.items():
        if _odd_text(value):
            return len(
                given
            ), f"{name} holds a character that no name may hold: NUL, or half of one"
    return len(given), ""


def explain(name: str, message: str, args: tuple, kwargs: dict) -> str:
    """The binding library's message about wrong arguments as one sentence."""
    listed = message.partition("\n\nInvoked with:")[0].splitlines()[1:]
    found = (-2, "")
    for parsed in filter(None, map(_parsed, listed)):
        signature, constructs = parsed
        found = max(found, _judge(signature, args[1:] if constructs else args, kwargs))
    types = [type_text(value) for value in (*args, *kwargs.values())]
    return f"{name}(): {found[1] or 'it does not take ' + ', '.join(types)}"


def _clip(text: str) -> str:
    """The two ends of a long text: what is wrong stands first, what to do last."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 155]} ... {text[-150:]}"


def _shortened(error: Exception) -> Exception | None:
    """The error with a message of bounded length, where a given value made it longer."""
    text = str(error)
    bound = LONGEST if isinstance(error, ValueError | TypeError) else 4 * LONGEST
    return type(error)(_clip(text)) if len(text) > bound else None


def _guarded(function, name: str, qualified: str, module: str):
    @functools.wraps(function)
    def checked(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            message = str(error)
            if "(): incompatible " in message[:200]:
                raise TypeError(_clip(explain(name, message, args, kwargs))) from None
            if short := _shortened(error):
                raise short from None
            raise
        except (ValueError, IndexError, KeyError, RuntimeError) as error:
            if short := _shortened(error):
                raise short from None
            raise
        finally:  # a traceback that shows its variables keeps none alive, `self` above all
            args = ()

    checked.__qualname__, checked.__module__ = qualified, module
    return checked


def _shown_if_made(function):
    """A ``__repr__`` that does not read an object whose ``__init__`` failed: debuggers and test
    runners show it."""

    @functools.wraps(function)
    def shown(self):
        if _eval._constructed(self):
            return function(self)
        return f"<{type(self).__name__}, not constructed>"

    return shown


def _reduced(self, protocol: int):
    """The oldest protocols of pickle make an object of the binding library's base class, which ends
    the process. What cannot be pickled says so, what can is pickled as by protocol 2."""
    return object.__reduce_ex__(self, max(protocol, 2))


def _guard_class(kind: type, module: str) -> None:
    kind.__reduce_ex__ = _reduced  # type: ignore[method-assign, assignment]
    # Pickling and the binding library's own methods are not called by people.
    own = {"__getstate__", "__setstate__", "_pybind11_conduit_v1_"}
    for name, member in list(vars(kind).items()):
        said = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
        qualified = f"{kind.__qualname__}.{name}"
        if name in own:
            continue
        if name in ("__repr__", "__str__") and type(member).__name__ == "instancemethod":
            setattr(kind, name, _shown_if_made(member.__func__))
        elif type(member).__name__ == "instancemethod":
            setattr(kind, name, _guarded(member.__func__, said, qualified, module))
        elif isinstance(member, staticmethod):
            inner = _guarded(member.__func__, said, qualified, module)
            setattr(kind, name, staticmethod(inner))
        elif isinstance(member, property) and member.fset is not None:
            setter = _guarded(member.fset, said, qualified, module)
            setattr(kind, name, property(member.fget, setter, member.fdel, member.__doc__))


def guard(module: ModuleType) -> None:
    """Guard all that a compiled module offers. A second call does nothing."""
    if getattr(module, "_guarded", False):
        return
    for name, member in list(vars(module).items()):
        if inspect.isbuiltin(member):
            setattr(module, name, _guarded(member, name, name, module.__name__))
        elif inspect.isclass(member) and member.__module__ == module.__name__:
            _guard_class(member, module.__name__)
    module._guarded = True
