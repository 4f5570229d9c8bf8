"""What was done to the columns of a frame, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from duti.encode.columns import Choice, rare
from duti.encode.layout import Column
from duti.encode.reading import listed, place


def told(choice: Choice, features: int, n: int) -> Column:
    """What was done to a column, in words."""
    lacking = f"{choice.missing} missing values"
    match choice.kind:
        case "number":
            done = "standardised" + (
                f"; {lacking} are the median, with an indicator" if choice.missing else ""
            )
        case "date":
            circles = f", and where in the {_and(choice.cycles)} it is" if choice.cycles else ""
            done = f"the number of days, standardised{circles}"
            done += f"; {lacking} are the median, with an indicator" if choice.missing else ""
        case "yes/no":
            done = "1 for yes, 0 for no"
            done += f"; {lacking} are the most frequent value, with an indicator" if choice.missing else ""
        case "category":
            done = "a column of zeros and ones for each value" + (
                ", and for missing ones" if choice.missing else ""
            )
            done += f"; values of fewer than {rare(n)} rows share one" if rare(n) > 1 else ""
        case "text":
            done = "how often words and pairs of words occur, weighed by how rare they are (TF-IDF)"
        case "embedding":
            done = "its numbers as they are"
        case "image":
            done = "16 × 16 shades of gray from 0 to 1"
        case _:
            done = f"left out: {choice.reason}"
    return Column(choice.name, choice.kind, done, features)


def notes(choices: list[Choice], features: int, name: str) -> list[str]:
    """How the frame was read, and what was left out of it that nobody asked to leave out."""
    kinds = Counter(choice.kind for choice in choices if choice.kind != "left out")
    shown = _and([f"{count} {_plural(kind, count)}" for kind, count in kinds.items()])
    said = [f"The columns of {name} were encoded as {features} features (numbers are standardised): {shown}."]
    for choice in choices:
        if choice.kind == "left out" and not choice.asked:
            said.append(f"{place(name, choice.name)} is left out: {choice.reason}.")
        if choice.sentinel is not None:
            number, times = choice.sentinel
            said.append(
                f"{place(name, choice.name)} holds {number:g} {times} times, far beyond all other numbers: "
                "if it means missing, leave these cells empty."
            )
        if choice.odd is not None:
            said.append(_odd(choice.odd, place(name, choice.name)))
        if choice.kind == "text" and not choice.asked:
            said.append(f"{place(name, choice.name)} is read as free text, word by word.")
    return said


def _odd(cells: tuple[tuple[int, str], ...], where: str) -> str:
    """Cells among numbers that are none.

    >>> _odd(((3, "4o.2"), (7, "n.a.")), "X column 'age'")
    "X column 'age', row 3: '4o.2' is no number, nor is 1 more cell ('n.a.'); they count as missing."
    """
    (row, first), *more = cells
    others = listed([repr(text) for text in dict.fromkeys(text for _, text in more)])
    number = "is 1 more cell" if len(more) == 1 else f"are {len(more)} more cells"
    rest = f"nor {number} ({others})"
    told = f", {rest}; they count" if more else "; it counts"
    return f"{where}, row {row}: {first!r} is no number{told} as missing."


def _plural(kind: str, count: int) -> str:
    plurals = {"category": "categories", "yes/no": "yes/no", "text": "of text"}
    return kind if count == 1 else plurals.get(kind, f"{kind}s")


def _and(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
