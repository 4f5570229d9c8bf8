"""What users hand in → arrays: frames and lists to matrices, labels to codes and back."""

from duti.encode.labels import codes, natural, real_labels, sorted_classes, vector
from duti.encode.reading import LARGEST, positions
from duti.encode.tables import Table, constant_columns, originals, table

__all__ = [
    "LARGEST",
    "Table",
    "codes",
    "constant_columns",
    "natural",
    "originals",
    "positions",
    "real_labels",
    "sorted_classes",
    "table",
    "vector",
]
