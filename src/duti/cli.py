"""The command line."""

from __future__ import annotations

from pathlib import Path

import click

from duti.errors import DutiError


class _Refusal(click.ClickException):
    """What is wrong with the input, in a line."""

    exit_code = 2


class _Commands(click.Group):
    """Commands whose user errors are a line and no traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except DutiError as error:
            raise _Refusal(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="duti", prog_name="duti")
def main() -> None:
    """Find and fix wrong labels in a training set with the help of a few items you trust."""


NAMES = ("harry-potter", "german", "adult", "digits", "sine", "limits", "all")


@main.command()
@click.argument("name", type=click.Choice(NAMES))
@click.option(
    "--runs", type=click.IntRange(min=1), help="Number of runs; as many as the paper has if left out."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first seed.")
@click.option("--quick", is_flag=True, help="One run of each experiment: a glance in a minute or two.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; one for each core if left out.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduced"),
    show_default=True,
    help="Folder for results, figures and tables.",
)
def reproduce(name: str, runs: int | None, seed: int, quick: bool, workers: int | None, out: Path) -> None:
    """Run an experiment of the paper, or all, and draw its figures next to the published ones."""
    from duti.experiments.catalogue import BY_NAME, GROUPS
    from duti.experiments.harness import default_workers, results
    from duti.experiments.report import page, write
    from duti.progress import reporting

    chosen = list(BY_NAME) if name == "all" else GROUPS[name]
    with reporting(True) as report:
        for one in chosen:
            number = 1 if quick else runs or BY_NAME[one].runs
            seeds = range(seed, seed + number)
            folder = write(results(one, seeds, report, workers or default_workers()), out)
            click.echo(f"{BY_NAME[one].title}: {folder}")
    click.echo(f"Page: {page(out)}")
