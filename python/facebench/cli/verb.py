"""What makes a function a verb: its options, how its answer is shown, how errors end."""

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

import facebench
from facebench.cli.common import (
    EXIT_FAILED,
    EXIT_STOPPED,
    EXIT_USAGE,
    Full,
    Json,
    Quiet,
    complain_of_error,
    drop_output,
    fitted,
    give_back_names,
    print_json,
    reason,
)
from facebench.cli.options import COMMON, HEADINGS, keyword, with_parameters
from facebench.core import _progress
from facebench.core._arguments import printable

ALWAYS = [
    keyword("quiet", Quiet, False),
    keyword("full", Full, False),
    keyword("json", Json, False),
]


@dataclass
class Answer:
    """What a verb has to say: as JSON, as text, and its exit code."""

    fields: Any
    text: str
    code: int = 0


def verb(
    example: str,
    described: Callable[[], Iterable[inspect.Parameter]] = list,
    several: tuple[str, ...] = (),
) -> Callable:
    """Makes a function a verb. It returns an `Answer`, or a result that has ``to_dict()`` and shows
    itself as text, or None where it has printed everything itself.

    ``described`` gives the parameters that come from the library; they reach the function as
    keywords. It is called when the verb is called or asked for help, and not before: most of the
    library needs torch. ``several``: options that take all words up to the next option.
    """

    def decorate(function: Callable) -> Callable:
        takes_json = "json" in inspect.signature(function).parameters

        @functools.wraps(function)
        @report_errors
        def wrapped(json: bool = False, quiet: bool = False, full: bool = False, **options):
            if takes_json:
                options["json"] = json
            with nullcontext() if quiet else _progress.standard(_progress.terminal):
                show(function(**options), json, full)

        said = {"described": described, "several": several, "epilog": f"Example: {example}"}
        wrapped.__dict__.update(said)
        return with_parameters(wrapped, ALWAYS)

    return decorate


def show(answer: Any, json: bool, full: bool = False) -> None:
    if answer is None:
        return
    if not isinstance(answer, Answer):
        fields = answer.to_dict() if hasattr(answer, "to_dict") else answer
        answer = Answer(fields, str(answer))
    try:
        if json:
            print_json(answer.fields)
        else:
            text = printable(answer.text)
            print(fitted(text, full) if sys.stdout.isatty() else text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise OSError(error.errno, error.strerror, "standard output") from None
    if answer.code:
        raise typer.Exit(answer.code)


def report_errors(function: Callable) -> Callable:
    """Turns errors into a message of one sentence and an exit code. What nobody foresaw is a bug,
    and named as one; with FACEBENCH_TRACEBACK set it keeps its traceback.

    1: data or files are wrong, or a module is absent. 2: wrong use. 130: stopped by Ctrl-C.
    """

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        def ended(text: str, code: int) -> typer.Exit:
            complain_of_error(text, code, bool(kwargs.get("json")))
            return typer.Exit(code)

        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt as stop:
            raise ended(f"stopped{''.join(f'; {a}' for a in stop.args)}", EXIT_STOPPED) from None
        except (facebench.Error, ImportError) as error:
            # Ctrl-C while a compiled module is loaded.
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise ended("stopped", EXIT_STOPPED) from None
            raise ended(str(error), EXIT_FAILED) from None
        except UnicodeDecodeError as error:  # a name out of a folder, say
            text = bytes(error.object[:200]).decode("utf-8", "backslashreplace")
            raise ended(f"'{text}' is not UTF-8; give it another name", EXIT_FAILED) from None
        except (ValueError, IndexError) as error:
            raise ended(str(error), EXIT_USAGE) from None
        except MemoryError as error:
            raise ended(str(error) or "there is not enough memory", EXIT_FAILED) from None
        except BrokenPipeError:
            # The program that reads the output (head, less) has ended. Nothing more may be flushed
            # into the pipe.
            drop_output()
            raise typer.Exit(0) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise ended(f"{place}{reason(error)}", EXIT_FAILED) from None
        except Exception as error:
            # Exits and wrong options.
            of_typer = type(error).__module__.startswith(("typer", "click"))
            if of_typer or os.environ.get("FACEBENCH_TRACEBACK"):
                raise
            what = " ".join(f"{type(error).__name__}: {error}".split())
            text = f"{what} (not foreseen: FACEBENCH_TRACEBACK=1 prints where)"
            raise ended(text, EXIT_FAILED) from None
        finally:
            give_back_names()

    return wrapped


def complete(command: Any) -> Any:
    """A verb's command of typer, with the options that the library describes."""
    function = getattr(command.callback, "__wrapped__", None)
    if function is None:
        return command
    described = report_errors(getattr(function, "described", list))()
    if not described:
        return command
    whole = with_parameters(
        functools.wraps(function)(lambda **options: function(**options)), described
    )
    return command_with(whole, command.name, function.epilog)


def command(name: str, function: Callable) -> Any:
    """A verb as a command of typer."""
    return command_with(function, name, function.__dict__["epilog"])


def command_with(function: Callable, name: str, epilog: str) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    names = {"help_option_names": ["-h", "--help"]}
    app.command(name, cls=VerbCommand, epilog=epilog, context_settings=names)(function)
    return typer.main.get_command(app)


def repeat_options(words: list[str], several: tuple[str, ...]) -> list[str]:
    """Puts an option that takes several words before each of them, as click knows it.

    >>> repeat_options(["--models", "a", "b", "--out", "c"], ("--models",))
    ['--models', 'a', '--models', 'b', '--out', 'c']
    """
    repeated, option, first = [], "", False
    for word in words:
        if word.startswith("-"):
            option, first = word if word in several else "", True
        elif option and not first:
            repeated.append(option)
        repeated.append(word)
        first = first and word.startswith("-")
    return repeated


def _with_numbers(words: str, match: re.Match) -> str:
    return words.format(*(f"{float(n):.10g}" for n in match.groups()))


def in_words(name: str, help: str) -> tuple[str, str]:
    """A row of typer's help without names of Python types, and with ranges as people write them.

    >>> in_words("RUNS <list[Path]>", "Level.  [default: 0.95; 0.5<=x<=0.9999]")
    ('RUNS', 'Level.  [default: 0.95; 0.5 to 0.9999]')
    """
    number = r"(-?[\d.e+-]+)"
    for typer_says, words in ((f"{number}<=x<={number}", "{} to {}"), (f"x>={number}", "from {}")):
        help = re.sub(
            typer_says,
            functools.partial(_with_numbers, words),
            help,
        )
    return re.sub(r" <[^>]+>$", "", name), help


MANY = 25  # options of a verb, from which on --help shows the common ones alone


def show_all_help(ctx, _, asked):
    if asked and not ctx.resilient_parsing:
        ctx.meta["help_all"] = True
        print(ctx.get_help())
        ctx.exit()


class VerbCommand(TyperCommand):
    """A verb as a command; some of its options take several words, and of many --help shows the
    common ones."""

    # Made once: of two equal ones the parser would not know which it has seen.
    _help_all: Any = None

    def get_params(self, ctx):
        params = super().get_params(ctx)
        options: list[Any] = [p for p in params if p.param_type_name == "option"]
        options = [p for p in options if not p.hidden]
        if len(options) < MANY:
            return params
        if self._help_all is None:
            quiet: Any = next(p for p in options if p.name == "quiet")
            self._help_all = type(quiet)(
                param_decls=["--help-all"],
                type_descriptor=quiet.type_descriptor,
                is_flag=True,
                is_eager=True,
                expose_value=False,
                default=False,
                callback=show_all_help,
                help=f"Show all {len(options) + 1} options and exit.",
            )
        return [*params, self._help_all]

    def format_options(self, ctx, formatter):
        helped = [(p, row) for p in self.get_params(ctx) if (row := p.get_help_record(ctx))]
        params, help_of = [p for p, _ in helped], {p.name: row for p, row in helped}
        arguments = [p for p in params if p.param_type_name == "argument"]
        options = [p for p in params if p not in arguments]
        headings = {"Arguments": arguments, "Options": options}
        if len(options) > MANY:
            if not ctx.meta.get("help_all"):
                options = [p for p in options if p.name in COMMON.split() or p.required]
            named = {heading: names.split() for heading, names in HEADINGS.items()}
            every = {name for names in named.values() for name in names}
            headings = {
                "Arguments": arguments,
                "Input": [p for p in options if p.name not in every],
                **{h: [p for p in options if p.name in names] for h, names in named.items()},
            }
        for heading, shown_here in headings.items():
            if shown_here:
                with formatter.section(heading):
                    formatter.write_dl([in_words(*help_of[p.name]) for p in shown_here])

    def parse_args(self, ctx, args):
        several = getattr(self.callback, "several", ())
        words = repeat_options(args, several)
        try:
            return super().parse_args(ctx, list(words))
        except Exception as error:
            if type(error).__name__ != "MissingParameter":  # of typer, which names the first alone
                raise
            values, *_ = self.make_parser(ctx).parse_args(words)
            missing = [p for p in self.get_params(ctx) if p.required and not values.get(p.name)]
            names = [p.metavar or p.name.upper() if p.param_type_name == "argument" else p.opts[0]
                     for p in missing]  # fmt: skip
            usage = next(kind for kind in type(error).__mro__ if kind.__name__ == "UsageError")
            raise usage(f"Missing: {', '.join(names)}.", ctx) from None


class VerbGroup(TyperGroup):
    """A group that completes a verb's options when the verb is called for. With ``--json`` a wrong
    option is JSON, too."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        if not standalone_mode or "--json" not in words:
            return super().main(
                args, prog_name, complete_var, standalone_mode, windows_expand_args, **extra
            )
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except typer.Abort:
            complain_of_error("stopped", EXIT_STOPPED, True)
            sys.exit(EXIT_STOPPED)
        except Exception as error:
            if not (hasattr(error, "format_message") and hasattr(error, "exit_code")):
                # Not one of typer's.
                raise
            complain_of_error(error.format_message(), error.exit_code, True)
            sys.exit(error.exit_code)
        sys.exit(code or 0)

    headings: ClassVar[dict] = {}  # of the help, each with the names of its verbs

    def format_commands(self, ctx, formatter):
        width = max(map(len, self.commands))
        for heading, names in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (f"{name:{width}}", self.commands[name].get_short_help_str(formatter.width))
                        for name in names
                    ]
                )

    def resolve_command(self, ctx, args):
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and complete(command), rest
