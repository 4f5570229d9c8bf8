"""The classes of a problem: all labels that rows, trusted items or the user name (but no mistyped ones)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duti.arrays import Labels
from duti.encode.labels import family, sorted_classes, unknown_label, vector
from duti.encode.reading import listed
from duti.errors import ProblemError

SHORTEST = 4
"""Words of fewer letters differ by one letter for good reasons: cat, car."""
SHOWN = 10
COMPARED = 200
"""Classes that are compared with each other."""
BETWEEN = re.compile(r"[\W_]")
"""What is between words."""


@dataclass(frozen=True, eq=False)
class Trusted:
    """Labels that are known to be right, and how to call those who have them."""

    labels: Labels
    place: Callable[[int], str]
    """In an error: "y_trusted row 3"."""
    called: Callable[[int], str]
    """In a note: "trusted item 3"."""


@dataclass(frozen=True, eq=False)
class Classes:
    """All classes there are."""

    labels: Labels
    """Sorted: the order of the columns of δ."""
    order: Labels
    """As the user has them: the order of the columns of predictions that are handed in."""
    given: Labels
    """The labels of the rows, in a type that holds all classes."""
    notes: tuple[str, ...]


def classes_of(given: Labels, trusted: Sequence[Trusted], insisted: Any = None) -> Classes:
    """The labels of rows and trusted items; `insisted` are all of them, or more, in an order of their own.

    >>> some = Trusted(np.array(["maybe"]), "y_trusted row {}".format, "trusted item {}".format)
    >>> found = classes_of(np.array(["no", "yes"]), [some])
    >>> found.labels.tolist(), found.notes[0]
    (['maybe', 'no', 'yes'], "No row has the label 'maybe', which trusted item 0 has: it can be suggested.")
    """
    known = sorted_classes(given, "y").tolist()
    new = _new_labels(known, trusted, typing_errors=insisted is None)
    if len(known) + len(new) < 2:
        raise ProblemError(
            f"y holds one class only ({known[0]!r}); debugging needs at least two classes, "
            "in y or in the trusted items."
        )
    notes, order, extra = [*_notes_on_alike(known), *_notes(new)], None, []
    if insisted is not None:
        order = _insisted(insisted, given, known, new)
        extra = [label for label in order.tolist() if label not in known and label not in new]
        notes += [f"No row and no trusted item has the label {label!r} of classes." for label in extra]
    widened = _joined(given, [*new, *extra])
    labels = sorted_classes(widened, "y")
    return Classes(labels, labels if order is None else order, widened[: len(given)], tuple(notes))


def _new_labels(known: list[Any], trusted: Sequence[Trusted], *, typing_errors: bool) -> dict[Any, list[str]]:
    """Labels that no row has, and the trusted items that have them."""
    seen, new = set(known), dict[Any, list[str]]()
    kind, whole = family(type(known[0])), all(isinstance(label, int) for label in known)
    for part in trusted:
        for row, label in enumerate(part.labels.tolist()):
            if label in seen:
                continue
            if family(type(label)) != kind:
                raise unknown_label(part.place(row), label, known)
            if typing_errors and label not in new and (meant := typing_error(label, known)) is not None:
                raise _mistyped(part.place(row), label, meant, known)
            # A frame with a missing label elsewhere has whole numbers as floats.
            same = int(label) if whole and isinstance(label, float) and label.is_integer() else label
            new.setdefault(same, []).append(part.called(row))
    return new


def _mistyped(place: str, label: str, meant: str, known: list[Any]) -> ProblemError:
    everything = sorted([label, *known]) if len(known) < SHOWN else [label, "…"]
    shown = ", ".join(repr(one) if one != "…" else one for one in everything)
    return unknown_label(place, label, known, meant, f" If not, insist with classes=[{shown}].")


def _notes(new: dict[Any, list[str]]) -> Iterator[str]:
    for label, who in list(new.items())[:SHOWN]:
        have = "has" if len(who) == 1 else "have"
        yield (f"No row has the label {label!r}, which {listed(who, most=3)} {have}: it can be suggested.")
    if len(new) > SHOWN:
        yield f"{len(new) - SHOWN} more labels of trusted items are of no row: they can be suggested."


def _notes_on_alike(known: list[Any]) -> Iterator[str]:
    """Labels of the rows that may be one label, written in two ways.

    >>> list(_notes_on_alike(["Approved", "approved ", "denied"]))[0].split(":")[0]
    "The labels 'Approved' and 'approved ' of y are alike"
    """
    some = known[:COMPARED]
    meant = {one: typing_error(one, some[place + 1 :]) for place, one in enumerate(some)}
    for one, other in [pair for pair in meant.items() if pair[1] is not None][:SHOWN]:
        yield f"The labels {one!r} and {other!r} of y are alike: if they mean the same, make them one."


def _insisted(insisted: Any, given: Labels, known: list[Any], new: dict[Any, list[str]]) -> Labels:
    order, _ = vector(insisted, "classes")
    labels = order.tolist()
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ProblemError(f"classes holds {twice!r} twice; name every class once.")
    for label in known:
        if label not in labels:
            row = given.tolist().index(label)
            raise ProblemError(f"classes lacks {label!r}, the label of y row {row}; add it.")
    for label, who in new.items():
        if label not in labels:
            raise ProblemError(f"classes lacks {label!r}, the label of {who[0]}; add it.")
    odd = next((label for label in labels if family(type(label)) != family(type(known[0]))), None)
    if odd is not None:
        raise ProblemError(
            f"classes holds {odd!r}, which is not of the type of the labels of y, such as {known[0]!r}; "
            "use one type."
        )
    return order


def _joined(given: Labels, more: list[Any]) -> Labels:
    """One array of all labels, of a type that holds each of them exactly."""
    if not more:
        return given
    labels = [*given.tolist(), *more]
    typed = np.asarray(labels, dtype=object if given.dtype.kind == "O" else None)
    if typed.tolist() == labels:
        return typed
    if isinstance(labels[0], str):  # NumPy drops NUL at the end of text
        return np.asarray(labels, dtype=object)
    raise ProblemError(f"the labels hold whole numbers beyond 64 bits, such as {max(labels)}; use text.")


def typing_error(label: Any, known: Sequence[Any]) -> Any:
    """The known label that one probably meant, if it differs by case, blanks, or one letter; else None.

    Numbers never are typing errors, nor is text that differs in a digit: "class 1", "class 2".

    >>> (
    ...     typing_error("Aproved", ["approved", "denied"]),
    ...     typing_error("3", ["2"]),
    ...     typing_error("car", ["cat"]),
    ... )
    ('approved', None, None)
    """
    if not isinstance(label, str) or _is_number(label):
        return None
    words = (other for other in known if isinstance(other, str) and not _is_number(other))
    mine = plain_text(label)
    return next((other for other in words if _alike(mine, plain_text(other))), None)


def plain_text(label: Any) -> str:
    """A label without what the eye passes over: case, blanks around and between, two codes for one letter.

    >>> plain_text("  Not  OK")
    'not ok'
    """
    return " ".join(unicodedata.normalize("NFKC", str(label)).casefold().split())


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return any(map(str.isdigit, text))  # "nan" and "inf" are words


def _alike(a: str, b: str) -> bool:
    return a.replace(" ", "") == b.replace(" ", "") or _is_one_edit(a, b)


def _is_one_edit(a: str, b: str) -> bool:
    """One letter of a long word inserted, left out or replaced, or two neighbours exchanged; no digits.

    >>> _is_one_edit("grade fair", "grade fare"), _is_one_edit("grade a", "grade b")
    (False, False)
    >>> _is_one_edit("very good", "very goood"), _is_one_edit("very good", "very godo")
    (True, True)
    """
    most = min(len(a), len(b))
    start = next((i for i in range(most) if a[i] != b[i]), most)
    end = next((i for i in range(most - start) if a[-1 - i] != b[-1 - i]), most - start)
    mine, other = a[start : len(a) - end], b[start : len(b) - end]
    if any(map(str.isdigit, mine + other)) or min(_letters(a, start), _letters(b, start)) < SHORTEST:
        return False
    return max(len(mine), len(other)) <= 1 or (len(mine) == 2 and mine == other[::-1])


def _letters(text: str, place: int) -> int:
    """How long the word is that ends, begins or lies at a place.

    >>> _letters("very good", 9), _letters("very good", 6), _letters("a+", 1)
    (4, 4, 1)
    """
    before, after = BETWEEN.split(text[:place]), BETWEEN.split(text[place:])
    return len(before[-1] + after[0])
