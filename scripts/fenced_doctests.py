"""An extension of griffe, which reads the docstrings for the site: examples are shown as code."""

import griffe


def fenced(text: str) -> str:
    """The docstring with a fence of Markdown around each example.

    >>> fenced("Adds.\\n\\n>>> 1 + 1\\n2")
    'Adds.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```'
    """
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.lstrip().startswith(">>> "):
            lines.append("```pycon")
            inside = True
        if inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)


class FencedDoctests(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj, **_) -> None:
        if obj.docstring and not obj.is_alias:
            obj.docstring.value = fenced(obj.docstring.value)
