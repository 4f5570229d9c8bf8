"""Small pictures of images, inside the page."""

from __future__ import annotations

import warnings
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

HEIGHT, WIDTH = 64, 160
PIXELS = 50_000_000
"""A larger image is not opened."""


def thumbnail(cell: Any, folder: Path | None) -> str | None:
    """A data: address of a small PNG of the image that a cell names; None if it cannot be opened.

    >>> thumbnail("no-such-file.png", None) is None
    True
    """
    from PIL import Image

    from duti.encode.images import FORMATS, image_file

    if not isinstance(cell, str) or "\0" in cell:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Image.open(image_file(cell, folder), formats=FORMATS) as image:
                if image.width * image.height > PIXELS:
                    return None
                image.draft("RGB", (WIDTH, HEIGHT))
                small = image.convert("RGBA" if "A" in image.getbands() else "RGB")
                small.thumbnail((WIDTH, HEIGHT))
    # A hostile or damaged file can fail anywhere inside a decoder.
    except Exception:
        return None
    file = BytesIO()
    small.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + b64encode(file.getvalue()).decode("ascii")
