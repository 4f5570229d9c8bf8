"""What users hand in → arrays: frames and lists to matrices, labels to codes and back."""

from duti.encode.classes import Classes, Trusted, classes_of
from duti.encode.encoder import Encoder, encoded_table
from duti.encode.items import PAPER_CONFIDENCE, confidences, stacked, trusted_rows
from duti.encode.labels import codes, natural, real_labels, refuse_tiny, sorted_classes, vector
from duti.encode.layout import Column, Layout
from duti.encode.oddities import items_that_are_rows, misplaced, odd_items, odd_rows
from duti.encode.probabilities import as_features, predicted
from duti.encode.reading import LARGEST, listed, positions, require_same_length
from duti.encode.tables import Table, constant_columns, is_plain, originals, table

__all__ = [
    "LARGEST",
    "PAPER_CONFIDENCE",
    "Classes",
    "Column",
    "Encoder",
    "Layout",
    "Table",
    "Trusted",
    "as_features",
    "classes_of",
    "codes",
    "confidences",
    "constant_columns",
    "encoded_table",
    "is_plain",
    "items_that_are_rows",
    "listed",
    "misplaced",
    "natural",
    "odd_items",
    "odd_rows",
    "originals",
    "positions",
    "predicted",
    "real_labels",
    "refuse_tiny",
    "require_same_length",
    "sorted_classes",
    "stacked",
    "table",
    "trusted_rows",
    "vector",
]
