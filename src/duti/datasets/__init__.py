"""Data sets with known bugs, to try things on."""

from duti.datasets.toys import LabelledBugs, harry_potter, sine

__all__ = ["LabelledBugs", "harry_potter", "sine"]
