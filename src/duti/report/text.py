"""How words and numbers are shown: nothing invisible, nothing that turns the text around, nothing endless."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

# Control characters, marks that reverse the direction of text, halves of characters, and the like.
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
MISSING = "–"
SPACE = "\N{NO-BREAK SPACE}"


def visible(text: str) -> str:
    """Characters that cannot be seen, or that change how others are seen, as their numbers.

    >>> visible("safe\u202etxt.exe")
    'safe[U+202E]txt.exe'
    """
    return HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def shortened(text: str, most: int) -> str:
    """The beginning of a long text.

    >>> shortened("one two three", 8)
    'one two…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def number(value: float, digits: int = 4) -> str:
    """Whole numbers as they are, others to a few digits.

    >>> [number(value) for value in (3.0, 0.123456, 12345.678, 1.5e-7)]
    ['3', '0.1235', '12346', '1.5e-07']
    """
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.{digits}g}"


def percent(share: float) -> str:
    """A share in per cent; only none is 0 % and only all is 100 %.

    >>> [percent(share).replace(SPACE, " ") for share in (0.0, 0.001, 0.623, 0.999, 1.0)]
    ['0 %', '<1 %', '62 %', '>99 %', '100 %']
    """
    if 0 < share < 0.01:
        return f"<1{SPACE}%"
    return f">99{SPACE}%" if 0.99 < share < 1 else f"{100 * share:.0f}{SPACE}%"


def probability(value: float) -> str:
    """A probability in per cent; nothing is certain.

    >>> [probability(value).replace(SPACE, " ") for value in (0.0, 0.5, 1.0)]
    ['<1 %', '50 %', '>99 %']
    """
    return percent(min(max(value, 0.001), 0.999))


def cell(value: Any, most: int = 60) -> str:
    """A cell of a table.

    >>> [cell(value) for value in (None, True, 0.5, "text", datetime(2020, 1, 2), [1, 2])]
    ['–', 'true', '0.5', 'text', '2020-01-02', '[1, 2]']
    """
    if value is None or value != value:
        return MISSING
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, int | np.integer | Decimal):
        return str(value)
    if isinstance(value, float | np.floating):
        return number(float(value))
    if isinstance(value, datetime | date):
        return value.isoformat(" ").removesuffix(" 00:00:00") if isinstance(value, datetime) else str(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return shortened(str(value), most)


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(2, "fix", "fixes")
    ('1 row', '2 fixes')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"
