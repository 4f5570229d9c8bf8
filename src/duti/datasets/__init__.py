"""Data sets with known bugs, to try things on."""

from duti.datasets.blurred_digits import digits, images
from duti.datasets.limits import high_bayes_error, poor_extrapolation, underfitting
from duti.datasets.real import adult_income, german_loan
from duti.datasets.toys import LabelledBugs, harry_potter, sine

__all__ = [
    "LabelledBugs",
    "adult_income",
    "digits",
    "german_loan",
    "harry_potter",
    "high_bayes_error",
    "images",
    "poor_extrapolation",
    "sine",
    "underfitting",
]
