"""What an ONNX file of a stranger may ask of ONNX Runtime, before that is asked.

Its functions are written out, and counted: twenty that call each other twice are a million nodes.
No Loop is run, since its turns may depend on the pixels, and nothing ends it. Nor does a pixel
decide how large a tensor is.
"""

from facebench._onnx import file as onnx_file
from facebench.core import Error
from facebench.core._arguments import brief

MOST_WRITTEN_OUT = 100_000  # nodes, with those of functions as often as these are called
DEEPEST = 16  # functions and graphs within each other

# The inputs that say how large the result is.
_SIZES = {
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "Tile": (1,),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "Resize": (1, 2, 3),
    "Upsample": (1,),
    "OneHot": (1,),
    "EyeLike": (),
}


def check_bounds(path) -> None:
    """facebench.Error where the graph of a file, its functions written out, has too many nodes or
    levels, a Loop, or a tensor whose size depends on the pixels."""
    nodes, functions, inputs = onnx_file.calls(path)
    _Count(path, functions).of(nodes, 0)
    _check_sizes(path, nodes, inputs)


class _Count:
    """Counts the nodes of a graph with those of the functions that it calls."""

    def __init__(self, path, functions):
        self._path, self._functions = path, functions
        self._known: dict[tuple[str, str], int] = {}
        self._within: list[tuple[str, str]] = []

    def of(self, nodes, depth) -> int:
        if depth > DEEPEST:
            raise Error(f"{self._path}: its graphs and functions lie in each other {depth} deep")
        count = 0
        for node in nodes:
            if node.op == "Loop" and node.domain in ("", "ai.onnx"):
                raise Error(
                    f"{self._path}: its node '{brief(node.name)}' is a Loop, which nothing ends. "
                    "Export the network without it, or pass a callable that runs it"
                )
            count += 1 + self._of_function((node.domain, node.op), depth)
            count += sum(self.of(graph, depth + 1) for graph in node.graphs)
            if count > MOST_WRITTEN_OUT:
                raise Error(
                    f"{self._path}: has more than {MOST_WRITTEN_OUT} nodes where its functions are "
                    "written out"
                )
        return count

    def _of_function(self, name, depth) -> int:
        if name not in self._functions:
            return 0
        if name in self._within:
            raise Error(f"{self._path}: its function '{brief(name[1])}' calls itself")
        if name not in self._known:
            self._within.append(name)
            self._known[name] = self.of(self._functions[name], depth + 1)
            self._within.pop()
        return self._known[name]


def _check_sizes(path, nodes, inputs) -> None:
    """Sizes may come from weights and from shapes, not from numbers that the pixels decide."""
    of_pixels = set(inputs)
    for node in nodes:
        for place in _SIZES.get(node.op, ()):
            if place < len(node.inputs) and node.inputs[place] in of_pixels:
                raise Error(
                    f"{path}: how large the result of its node '{brief(node.name)}' ({node.op}) is "
                    "depends on the pixels. Pass a callable that runs it"
                )
        if node.op not in ("Shape", "Size") and of_pixels.intersection(node.inputs):
            of_pixels.update(node.outputs)
