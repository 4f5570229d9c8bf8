"""`duti reproduce`: the experiments of the paper."""

from __future__ import annotations

from pathlib import Path

import click

NAMES = ("harry-potter", "german", "adult", "digits", "sine", "limits", "all")


@click.command()
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
