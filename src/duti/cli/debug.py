"""`duti debug`: a table and a few trusted rows in, ranked fixes and a report out."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click

from duti.cli.options import as_json, quiet

FILE = click.Path(path_type=Path)


def _class_names(_context: click.Context, _option: click.Parameter, line: str | None) -> tuple[str, ...]:
    """Names between commas, in quotes where a comma is part of one."""
    if line is None:
        return ()
    try:
        (names,) = csv.reader([line], skipinitialspace=True)
    except (csv.Error, ValueError):
        raise click.BadParameter(f"{line!r} is not a line of names between commas.") from None
    return tuple(names)


@click.command(no_args_is_help=True)
@click.argument("train", type=FILE)
@click.argument("trusted", type=FILE, required=False)
@click.option("--label", required=True, metavar="COLUMN", help="The column of labels, in both files.")
@click.option(
    "--trusted-column",
    metavar="COLUMN",
    help="A column of TRAIN that marks rows whose label is right (yes/no), or holds the right label.",
)
@click.option("--verified-at-random", is_flag=True, help="The rows of --trusted-column were drawn at random.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    help="How many rows you can check; all that are more probably wrong than right if left out.",
)
@click.option(
    "--confidence", metavar="C|COLUMN", help="Weight of the trusted rows: a number, or a column of TRUSTED."
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out. Can be repeated.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Use a column although it looks like an id.")
@click.option("--text", multiple=True, metavar="COLUMN", help="A column of free text.")
@click.option("--image", metavar="COLUMN", help="A column of paths of image files, relative to TRAIN.")
@click.option("--images-from", type=FILE, metavar="DIR", help="The folder of the images, if it is another.")
@click.option(
    "--group", "groups", multiple=True, metavar="COLUMN", help="Count flags by the values of a column."
)
@click.option(
    "--id", metavar="COLUMN", help="The column that names rows; they are counted from 1 if left out."
)
@click.option(
    "--task", type=click.Choice(["classification", "regression"]), help="Read from the labels if left out."
)
@click.option(
    "--classes",
    callback=_class_names,
    metavar="A,B,C",
    help="All labels there are, if one that only trusted rows have looks like a typing error of another.",
)
@click.option(
    "--pred-probs",
    type=FILE,
    metavar="FILE",
    help="Your own probabilities of the labels of TRAIN: a column for each class.",
)
@click.option("--pred-probs-trusted", type=FILE, metavar="FILE", help="The same for TRUSTED.")
@click.option(
    "--recipe",
    type=click.Choice(["auto", "paper"]),
    default="auto",
    show_default=True,
    help="Many learners that are weighed, or one that is tuned, as published.",
)
@click.option(
    "--systematic", type=click.FloatRange(0, 1), help="The probability that bugs are systematic, if you know."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of whatever is drawn."
)
@click.option(
    "--out", type=FILE, metavar="DIR", help="Folder for everything that is written. [default: TRAIN-duti]"
)
@click.option(
    "--sample",
    type=click.IntRange(min=2),
    metavar="ROWS",
    help="Debug so many rows, drawn at random; the others stay as they are.",
)
@click.option("--with-columns", is_flag=True, help="Findings have the columns of TRAIN, too.")
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped or killed.")
@click.option("--overwrite", is_flag=True, help="Replace a run that is in the folder.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, how long it takes, how much memory.")
@quiet
@as_json
def debug(
    out: Path | None, resume: bool, overwrite: bool, dry_run: bool, quiet: bool, as_json: bool, **asked: Any
) -> None:
    """Find labels of TRAIN that look wrong, with the help of TRUSTED, and suggest what they should be.

    TRAIN and TRUSTED are tables with the same columns: CSV, TSV, JSONL, Parquet, Arrow, .npz or a Hugging
    Face dataset on disk. Written to DIR: findings.csv and findings.parquet (all rows, most suspicious first),
    corrected.* (TRAIN with the fixes, nothing else changed), report.html, and run.json (what it takes to run
    it again). TRAIN itself is never changed.

    \b
    duti debug loans.csv verified.csv --label approved --group sex
    """
    from duti.cli.printing import show_outcome, show_preview
    from duti.runs.folder import Folder
    from duti.runs.run import perform, preview
    from duti.runs.settings import Settings

    if resume and overwrite:
        raise click.UsageError("Give either --resume or --overwrite.")
    settings = Settings(**asked)
    folder = Folder(out or settings.default_folder)
    if dry_run:
        show_preview(preview(settings), folder, quiet=quiet, as_json=as_json)
        return
    outcome = perform(folder, settings, resume=resume, overwrite=overwrite, progress=not quiet)
    show_outcome(outcome, quiet=quiet, as_json=as_json)
    if outcome.interrupted:
        raise SystemExit(130)
