"""All commands under one name, and what happens when something is wrong."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import click

from duti.cli.completion import completion
from duti.cli.debug import debug
from duti.cli.demo import demo
from duti.cli.reproduce import reproduce
from duti.cli.results import apply, export, import_answers, report
from duti.errors import DutiError, FileError, ResourceError

WRONG_INPUT, NO_MEMORY, NO_FILE, INTERRUPTED, NO_READER = 2, 3, 4, 130, 141
EXIT_CODES = """\b
Exit codes: 0 done, 2 something about the input is wrong, 3 not enough memory,
4 a file cannot be written, 130 interrupted (what was found so far is kept),
141 nobody reads the output any more (all files are there)."""
HARDLY_ANY = 5e8
"""Bytes that a process may have left when it fails for want of memory."""
MEMORY = (
    "there is not enough memory; use --sample to debug some of the rows, leave columns out with --drop, "
    "or use a machine with more"
)


class _Refusal(click.ClickException):
    """What is wrong, in a line."""

    def __init__(self, message: str, code: int) -> None:
        from duti.report.text import visible

        super().__init__(visible(" ".join(message.split("\n"))))
        self.code = code

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        """What a script sees."""
        return self.code


class _Commands(click.Group):
    """Commands whose user errors are a line and no traceback."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        _open_streams()
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()  # here, not at the end of the process, it is known who reads
            return found
        except DutiError as error:
            codes = {ResourceError: NO_MEMORY, FileError: NO_FILE}
            raise _Refusal(str(error), codes.get(type(error), WRONG_INPUT)) from error
        except BrokenPipeError:  # whoever read the output has seen enough
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
            ctx.exit(NO_READER)
        except MemoryError as error:
            raise _Refusal(MEMORY, NO_MEMORY) from error
        except OSError as error:
            name = f" ({error.filename})" if error.filename else ""
            raise _Refusal(f"{error.strerror or error}{name}", NO_FILE) from error
        except (RuntimeError, SystemError, ImportError) as error:
            from duti.memory import available_memory

            # Where hardly any memory is left, threads do not start and modules do not load.
            if (
                (left := available_memory()) is None
                or left > HARDLY_ANY
                or isinstance(error, click.exceptions.Exit)
            ):
                raise
            raise _Refusal(MEMORY, NO_MEMORY) from error
        except KeyboardInterrupt as error:
            message = "interrupted before anything was found; --resume goes on where it was"
            raise _Refusal(message, INTERRUPTED) from error


def _open_streams() -> None:
    """Whoever closed a stream (2>&-) wants nothing on it; the next file opened would take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


@click.group(cls=_Commands, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="duti", prog_name="duti")
def main() -> None:
    """Find and fix wrong labels in a training set with the help of a few items you trust."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows a question mark
            stream.reconfigure(errors="replace")


for command in (debug, demo, report, apply, export, import_answers, reproduce, completion):
    main.add_command(command)
