"""`duti demo`: the Harry Potter example, from data to report."""

from __future__ import annotations

from pathlib import Path

import click

from duti.cli.options import as_json, quiet


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    show_default=True,
    metavar="DIR",
    help="Folder for everything.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the students."
)
@quiet
@as_json
def demo(out: Path, seed: int, quiet: bool, as_json: bool) -> None:
    """Debug an example: who is hired at the Ministry of Magic, and who should be?"""
    from duti.cli.printing import show, show_outcome
    from duti.demo import debugged_students

    outcome, told = debugged_students(out, seed, progress=not quiet)
    show_outcome(outcome, quiet=quiet, as_json=as_json)
    if not as_json:
        show({}, told, quiet=quiet, as_json=False)
