"""Tables in files of any format: read as they are in the wild, written exactly and atomically.

`reading.py` finds the format, and each format is one file: `delimited.py` (CSV, TSV), `jsonlines.py`,
`columnar.py` (Parquet, Arrow), `npz.py`, `huggingface.py`. Text goes through `text.py` (encodings),
`records.py` (where cells stand in the bytes) and `columns.py` (their types). `writing.py` writes, `atomic.py`
whole or not at all.

Importing this package imports pyarrow, so import it where it is used.
"""

from duti.files.atomic import atomically
from duti.files.reading import read, read_text, read_written
from duti.files.sheet import Sheet
from duti.files.writing import write_csv, write_json, write_parquet, write_relabelled, write_text

__all__ = [
    "Sheet",
    "atomically",
    "read",
    "read_text",
    "read_written",
    "write_csv",
    "write_json",
    "write_parquet",
    "write_relabelled",
    "write_text",
]
