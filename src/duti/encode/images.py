"""Image files → small grayscale pixels."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from PIL import Image

from duti.arrays import Array, Labels
from duti.errors import ProblemError

SIDE = 16
"""Images become SIDE × SIDE pixels."""
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM")
"""Raster formats that are read by pillow itself, without another program."""


def image_file(path: str, folder: Path | None) -> Path:
    """The file that a cell names: inside of the folder, if there is one, wherever links may lead.

    >>> image_file("../secret.png", Path("/tmp/photos"))
    Traceback (most recent call last):
    PermissionError: it is outside of /tmp/photos
    """
    if folder is None:
        return Path(path)
    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise PermissionError(f"it is outside of {folder}")
    return file


def pixels(paths: Labels, folder: Path | None, place: str) -> Array:
    """The pixels of image files, from 0 (black) to 1 (white), one image a row.

    Paths are of files, whatever they look like: nothing is ever fetched from a network.
    """
    values = np.empty((len(paths), SIDE * SIDE))
    for row, path in enumerate(paths):
        if not path:
            raise ProblemError(f"{place}, row {row} names no image; name a file, or drop the row.")
        try:
            values[row] = _gray(image_file(path, folder)).ravel()
        # A hostile or damaged file can fail anywhere inside a decoder.
        except Exception as error:
            raise ProblemError(
                f"{place}, row {row}: the image {path!r} cannot be read "
                f"({' '.join(str(error).split())}); repair it, or drop the row."
            ) from error
    return values


def _gray(path: Path) -> Array:
    """One image as SIDE × SIDE shades of gray, whatever its shape."""
    if not path.is_file():
        raise FileNotFoundError("there is no such file")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path, formats=FORMATS) as image:
            image.draft("L", (SIDE, SIDE))  # a JPEG need not be decoded in full
            small = image.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float64) / 255
