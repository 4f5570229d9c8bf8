"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

quiet = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for machines.")
folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
