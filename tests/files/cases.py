"""Small tables in every format."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

TABLE = pa.table(
    {
        "age": pa.array([31.5, None, 27.0, 44.25, 8.0]),
        "city": pa.array(["Köln", "Ulm", None, "Bonn", "Ulm"]),
        "label": pa.array(["yes", "no", "no", "yes", "no"]),
    }
)
CSV = "age,city,label\n31.5,Köln,yes\n,Ulm,no\n27.0,,no\n44.25,Bonn,yes\n8.0,Ulm,no\n".encode()
JSONL = b"".join(json.dumps(row).encode() + b"\n" for row in TABLE.to_pylist())


def parquet(table: Any = TABLE, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def arrow(table: Any = TABLE, stream: bool = False, max_chunksize: int = 2) -> bytes:
    out = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=max_chunksize)
    return out.getvalue()


def npz(compressed: bool = False, **arrays: Any) -> bytes:
    out = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(out, **arrays)
    return out.getvalue()


def huggingface(folder: Path, codes: tuple[int, ...] = (1, 0, 0, 1, -1), **state: Any) -> Path:
    """What `datasets.save_to_disk` writes: Arrow streams, and what is known about them in JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    features = {
        "text": {"dtype": "string", "_type": "Value"},
        "label": {"names": ["neg", "pos"], "_type": "ClassLabel"},
    }
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    schema = pa.schema([("text", pa.string()), ("label", pa.int64())], metadata)
    table = pa.table({"text": list("abcde"), "label": list(codes)}, schema=schema)
    names = ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    (folder / names[0]).write_bytes(arrow(table.slice(0, 3), stream=True))
    (folder / names[1]).write_bytes(arrow(table.slice(3), stream=True))
    files = {
        "_data_files": [{"filename": name} for name in names],
        "_fingerprint": "0f" * 8,
        "_split": "train",
    }
    (folder / "state.json").write_text(json.dumps(files | state))
    (folder / "dataset_info.json").write_text(json.dumps({"citation": "", "features": features}))
    return folder


VECTORS: dict[str, Any] = {
    "X": np.arange(10.0).reshape(5, 2),
    "label": np.array(["yes", "no", "no", "yes", "no"]),
}
BYTES: dict[str, bytes] = {
    "csv": CSV,
    "csv.gz": gzip.compress(CSV, mtime=0),
    "tsv": CSV.replace(b",", b"\t"),
    "tsv.gz": gzip.compress(CSV.replace(b",", b"\t"), mtime=0),
    "jsonl": JSONL,
    "ndjson": JSONL,
    "jsonl.gz": gzip.compress(JSONL, mtime=0),
    "parquet": parquet(),
    "arrow": arrow(),
    "ipc": arrow(stream=True),
    "feather": arrow(),
    "npz": npz(**VECTORS),
}
"""The same five rows in the bytes of each format, by the end of the file's name."""


def written(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
