"""What can be done with a finished run: report, apply, export, import."""

from __future__ import annotations

from pathlib import Path

import click

from duti.cli.options import as_json, folder, quiet

FILE = click.Path(path_type=Path)


@click.command()
@folder
@quiet
@as_json
def report(folder: Path, quiet: bool, as_json: bool) -> None:
    """Write the report of the run in DIR again, and show what was found."""
    from duti.cli.printing import show_outcome
    from duti.runs.folder import Folder
    from duti.runs.run import reported

    show_outcome(reported(Folder(folder)), quiet=quiet, as_json=as_json)


@click.command(name="apply")
@folder
@click.option("--top", type=click.IntRange(min=0), help="Apply the candidates of the first so many rows.")
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    help="Apply the candidates of rows that are wrong with this probability or more.",
)
@click.option(
    "--accepted",
    "only_accepted",
    is_flag=True,
    help="Apply the answers that were imported, and no other fix.",
)
@click.option("--out", type=FILE, help="The file to write. [default: DIR/corrected.*]")
@quiet
@as_json
def apply(
    folder: Path,
    top: int | None,
    at_least: float | None,
    only_accepted: bool,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the training table of the run in DIR with fixes applied; the input is never overwritten.

    Without --top, --at-least and --accepted these are the suggested fixes, which `duti debug` applied. With
    --top and --at-least rows have to be both.
    """
    from duti.cli.printing import show
    from duti.runs.answers import accepted
    from duti.runs.folder import Folder
    from duti.runs.outputs import corrected_file, fixes, write_corrected

    if only_accepted and not (top is None and at_least is None):
        raise click.UsageError("Give either --accepted or --top K and --at-least P.")
    run = Folder(folder)
    labels = accepted(run) if only_accepted else fixes(run.inputs, run.findings, top, at_least)
    usual = corrected_file(run, run.inputs).name
    if out is None:
        run.refuse_foreign(usual)
    written = write_corrected(run, run.inputs, labels, out)
    if out is None:
        run.own(usual)
    show(
        {"changed": len(labels), "file": str(written)},
        f"{len(labels)} labels changed: {written}",
        quiet=quiet,
        as_json=as_json,
    )


@click.command()
@folder
@click.option("--to", type=click.Choice(["label-studio", "jsonl", "csv"]), required=True, help="The format.")
@quiet
@as_json
def export(folder: Path, to: str, quiet: bool, as_json: bool) -> None:
    """Write the flagged rows of the run in DIR for somebody who checks them."""
    from duti.cli.printing import show
    from duti.runs.exports import export as write
    from duti.runs.folder import Folder
    from duti.runs.run import reasons_of

    run = Folder(folder)
    files = write(run, reasons_of(run), to)
    number = len(run.findings.flagged)
    show(
        {"rows": number, "files": [str(file) for file in files]},
        f"{number} rows to check: {', '.join(map(str, files))}",
        quiet=quiet,
        as_json=as_json,
    )


@click.command(name="import")
@folder
@click.argument("answers", type=FILE)
@click.option("--rerun", is_flag=True, help="Debug again with the answers as verified rows.")
@quiet
@as_json
def import_answers(folder: Path, answers: Path, rerun: bool, quiet: bool, as_json: bool) -> None:
    """Take ANSWERS (an export with duti_answer filled in) into the run in DIR as verified rows."""
    from duti.cli.printing import show, show_outcome
    from duti.runs.answers import Answers
    from duti.runs.folder import Folder
    from duti.runs.run import perform

    run = Folder(folder)
    new = Answers(run).take(answers)
    everything = Answers(run).known
    if rerun:
        outcome = perform(run, run.settings, overwrite=True, progress=not quiet, answers=everything)
        show_outcome(outcome, quiet=quiet, as_json=as_json)
        return
    unsure = f" {len(new.unsure)} unsure, which change nothing." if new.unsure else ""
    show(
        {"answers": len(new.answers), "unsure": len(new.unsure), "in_all": len(everything)},
        f"{len(new.answers)} answers taken, {len(everything)} in all.{unsure} "
        f"Next: duti apply {folder} --accepted, or --rerun to debug with them.",
        quiet=quiet,
        as_json=as_json,
    )
