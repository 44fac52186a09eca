"""Pages that mkdocs makes while it builds the site: each protocol, the modules of the Python
package, the command line, and the C++ headers by Doxygen. A hook of mkdocs.yml; needs the package
that was built.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import click
import facebench
import protocol_pages
from facebench.cli.app import app
from facebench.cli.verbs import SECTIONS
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]


def python_pages() -> dict[str, tuple[str, str]]:
    """{path: (title, text)}: the verbs, then every public module, with what mkdocstrings finds in
    its docstrings and stubs."""
    lines = ["# Python", "", "The verbs of the command line are functions of the package:", ""]
    lines += ["| function | does |", "|---|---|"]
    for name, module in facebench._VERBS.items():
        first = (getattr(facebench, name).__doc__ or "").split("\n\n")[0]
        lines.append(f"| [`facebench.{name}`][facebench.{module}.{name}] | {_cell(first)} |")
    for module in sorted(set(facebench._VERBS.values()) - set(facebench._MODULES)):
        verbs = [name for name, home in facebench._VERBS.items() if home == module]
        lines += ["", f"::: facebench.{module}", f"    options: {{members: [{', '.join(verbs)}]}}"]
    pages = {"reference/python/index.md": ("The package", "\n".join(lines) + "\n")}
    for module in facebench._MODULES:
        text = f"# facebench.{module}\n\n::: facebench.{module}\n"
        pages[f"reference/python/{module}.md"] = (f"facebench.{module}", text)
    return pages


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _verb(name: str, command) -> list[str]:
    """One verb: what it does, its example, its options."""
    lines = [f"# facebench {name}", "", command.help or "", ""]
    if command.epilog:
        examples = command.epilog.removeprefix("Example: ").replace(" Or: ", "\n")
        lines += ["```sh", examples, "```", ""]
    lines += ["| option | what | default |", "|---|---|---|"]
    for parameter in command.params:
        if parameter.name == "help":
            continue
        names = ", ".join(parameter.opts + parameter.secondary_opts)
        if parameter.param_type_name == "argument":
            names = parameter.make_metavar(click.Context(command))
        elif not parameter.is_flag:
            names += f" {parameter.metavar or ''}".rstrip()
        default = "required" if parameter.required else parameter.default
        shown = "" if default in (None, False, "", [], ()) else str(default)
        lines.append(f"| `{_cell(names)}` | {_cell(parameter.help or '')} | {_cell(shown)} |")
    return [*lines, ""]


def command_line_pages() -> dict[str, tuple[str, str]]:
    """{path: (title, text)}: the verbs as the help groups them, then each with the options that it
    has when it is called."""
    pages, lines = {}, ["# Command line", ""]
    for section, verbs in SECTIONS.items():
        lines += [f"## {section}", "", "| verb | does |", "|---|---|"]
        for name in verbs:
            command = app.get_command(None, name)
            for inner in getattr(command, "commands", [""]):
                verb = command.get_command(None, inner) if inner else command
                title, page = f"{name} {inner}".strip(), f"{name}-{inner}".rstrip("-")
                text = "\n".join(_verb(title, verb)) + "\n"
                pages[f"reference/command-line/{page}.md"] = (title, text)
                first = (verb.help or "").partition(".")[0]
                lines.append(f"| [`facebench {title}`]({page}.md) | {_cell(first)} |")
        lines.append("")
    return {"reference/command-line/index.md": ("All verbs", "\n".join(lines))} | pages


def notebook_page(path: Path) -> str:
    """A notebook with the outputs that `scripts/run_notebooks.py` keeps in it."""
    notebook = json.loads(path.read_text())
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source.replace(".ipynb)", ".md)"))  # links to other notebooks
            continue
        parts.append(f"```python\n{source}\n```")
        parts += filter(None, map(_output, cell["outputs"]))
    return "\n\n".join(parts) + "\n"


def _output(output: dict) -> str:
    """An output of a cell as Markdown: a picture, a table, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        return f"![output of the cell](data:image/png;base64,{''.join(data['image/png']).strip()})"
    if "text/html" in data:
        return "".join(data["text/html"])
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


CPP = """# C++

The public headers, by floor: [classes and functions](../cpp/index.html).

A program includes `facebench/FLOOR/NAME.h` and links `facebench::eval` (protocols and metrics,
without torch) or `facebench::all`; see [where things are](../where-things-are.md).
"""

# Doxygen's first page.
CPP_START = """/** @mainpage C++ reference
A program includes <code>facebench/FLOOR/NAME.h</code>, or all of a component by
<code>facebench/eval.h</code> (protocols and metrics, without torch) or
<code>facebench/all.h</code>, and links <code>facebench::eval</code> or <code>facebench::all</code>.

- <a href="namespacefacebench.html">All functions</a>
- <a href="annotated.html">All classes</a>
- <a href="files.html">The headers, by floor</a>
- <a href="../index.html">Back to the site</a>
*/
"""


def on_page_markdown(markdown, page, **_):
    """A bar in code in a table is escaped for GitHub; here the backslash would be shown. The table
    of protocols links the pages that are made here."""
    if page.file.src_uri == "protocols/index.md":
        markdown = re.sub(r"^\| `(\w+)` \|", r"| [`\1`](\1.md) |", markdown, flags=re.MULTILINE)

    def plain(line: str) -> str:
        return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), line)

    lines = markdown.split("\n")
    return "\n".join(plain(line) if line.startswith("|") else line for line in lines)


def on_config(config):
    """The pages that are made stand in the navigation, too, and the version below each page."""
    config.copyright = f"facebench {facebench.__version__}"
    (reference,) = (part["Reference"] for part in config.nav if "Reference" in part)
    for title, pages in (("Command line", command_line_pages()), ("Python", python_pages())):
        reference.append({title: [{name: path} for path, (name, _) in pages.items()]})
    reference.append({"C++": "reference/cpp.md"})


def on_files(files, config):
    made = command_line_pages() | python_pages()
    pages = {
        **{path: text for path, (_, text) in made.items()},
        "reference/cpp.md": CPP,
        **{f"protocols/{s.id}.md": protocol_pages.page(s) for s in protocol_pages.all_specs()},
        **{
            f"notebooks/{path.stem}.md": notebook_page(path)
            for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        },
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    # The link to what Doxygen writes beside the pages is one that mkdocs can follow.
    files.append(File.generated(config, "cpp/index.html", content=""))
    return files


def on_post_build(config):
    """Doxygen's own pages, in the folder cpp of the site."""
    settings = (ROOT / "docs/Doxyfile").read_text()
    settings += f"OUTPUT_DIRECTORY = {config.site_dir}\nHTML_OUTPUT = cpp\n"
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start.h"
        start.write_text(CPP_START)
        settings += f"INPUT += {start}\n"
        subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)
