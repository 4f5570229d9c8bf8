"""Images of the digits 0-9: glyphs of the fonts that come with matplotlib, under random affine maps.

They stand in for MATLAB's synthetic digits, which are made in the same way. White on black, 28 × 28.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from scipy.ndimage import affine_transform

from duti.arrays import Array, Ints

SIDE = 28
HEIGHT = 18
"""Pixels from the top to the bottom of a digit that is neither scaled nor turned."""
FINE = 4
"""Glyphs are rendered so many times larger, then smoothed, so that thin strokes survive the sampling."""
FONTS = (
    *("DejaVuSans", "DejaVuSans-Bold", "DejaVuSans-Oblique", "DejaVuSans-BoldOblique"),
    *("DejaVuSansMono", "DejaVuSansMono-Bold", "DejaVuSansMono-Oblique", "DejaVuSansMono-BoldOblique"),
    *("DejaVuSerif", "DejaVuSerif-Bold", "DejaVuSerif-Italic", "DejaVuSerif-BoldItalic"),
    *("STIXGeneral", "STIXGeneralBol", "STIXGeneralItalic", "STIXGeneralBolIta"),
    *("cmr10", "cmb10", "cmss10", "cmti10", "cmtt10"),
)
ROTATION = np.deg2rad(30)
SHEAR = 0.2
SCALE = 0.8, 1.1
"""Of height and width, each by itself."""
SHIFT = 1.5
"""Pixels to either side, and up or down."""


def draw(digits: Ints, rng: np.random.Generator) -> Array:
    """One image in [0, 1] of each digit, as rows of 784 pixels, in random fonts and positions.

    All is uniform: the font, a rotation of up to ±30°, a shear of up to ±0.2, a height and a width of
    0.8 to 1.1 of the font's, a shift of up to ±1.5 pixels along either axis.

    >>> images = draw(np.arange(10), np.random.default_rng(0))
    >>> images.shape, bool(images.min() >= 0), bool(images.max() <= 1)
    ((10, 784), True, True)
    """
    n = len(digits)
    fonts = rng.integers(len(FONTS), size=n)
    turn, shear = rng.uniform(-ROTATION, ROTATION, n), rng.uniform(-SHEAR, SHEAR, n)
    scale, shift = rng.uniform(*SCALE, (n, 2)), rng.uniform(-SHIFT, SHIFT, (n, 2))
    images = np.empty((n, SIDE * SIDE))
    for i, (font, digit) in enumerate(zip(fonts.tolist(), digits.tolist(), strict=True)):
        cosine, sine = np.cos(turn[i]), np.sin(turn[i])
        forwards = np.array([[cosine, -sine], [sine, cosine]]) @ [[1.0, 0.0], [shear[i], 1.0]] * scale[i]
        images[i] = _placed(_glyph(FONTS[font], digit), forwards, shift[i]).ravel()
    return images.clip(0.0, 1.0)  # smoothing rounds


def _placed(glyph: Array, forwards: Array, shift: Array) -> Array:
    """The image whose pixel p shows the glyph at its centre + FINE · forwards⁻¹ (p − centre − shift)."""
    backwards = FINE * np.linalg.inv(forwards)
    middle = (SIDE - 1) / 2 + shift
    offset = (np.array(glyph.shape) - 1) / 2 - backwards @ middle
    placed: Array = affine_transform(glyph, backwards, offset, (SIDE, SIDE), order=1)
    return placed


@cache
def _glyph(font: str, digit: int) -> Array:
    """A digit in a square of FINE · SIDE pixels, in its middle."""
    import matplotlib
    from PIL import Image, ImageDraw, ImageFont
    from scipy.ndimage import uniform_filter

    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{font}.ttf"
    side = FINE * SIDE
    trial = ImageFont.truetype(path, side)
    _, top, _, bottom = trial.getbbox("0")
    fitted = ImageFont.truetype(path, side * FINE * HEIGHT / (bottom - top))
    left, top, right, bottom = fitted.getbbox(str(digit))
    image = Image.new("L", (side, side))
    ImageDraw.Draw(image).text(
        ((side - left - right) / 2, (side - top - bottom) / 2), str(digit), fill=255, font=fitted
    )
    smooth: Array = uniform_filter(np.asarray(image) / 255, size=FINE, mode="constant")
    return smooth
