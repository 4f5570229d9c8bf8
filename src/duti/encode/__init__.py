"""What users hand in → arrays: frames and lists to matrices, labels to codes and back."""

from duti.encode.encoder import Encoder, encoded_table
from duti.encode.labels import codes, natural, real_labels, sorted_classes, vector
from duti.encode.layout import Column, Layout
from duti.encode.reading import LARGEST, listed, positions
from duti.encode.tables import Table, constant_columns, is_plain, originals, table

__all__ = [
    "LARGEST",
    "Column",
    "Encoder",
    "Layout",
    "Table",
    "codes",
    "constant_columns",
    "encoded_table",
    "is_plain",
    "listed",
    "natural",
    "originals",
    "positions",
    "real_labels",
    "sorted_classes",
    "table",
    "vector",
]
