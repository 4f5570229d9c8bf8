"""The command line. Modules here import nothing heavy until a command runs: `duti --help` is quick."""

from duti.cli.commands import main

__all__ = ["main"]
