"""Ctrl-C keeps what is done, and --resume goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq

from tests.runs.tables import written


def test_an_interrupt_keeps_what_was_found_and_resuming_finds_the_rest(tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path, n=400)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def started(out: str, *more: str) -> subprocess.Popen[str]:
        words = [str(train), str(trusted), "--label", "granted", "--json", "--out", str(tmp_path / out)]
        return subprocess.Popen(
            [sys.executable, "-m", "duti", "debug", *words, *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    process = started("stopped")
    stages, patience = tmp_path / "stopped" / ".stages", time.monotonic() + 60
    while len(list(stages.glob("*.npz"))) < 2 and time.monotonic() < patience:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    told, complaint = process.communicate()
    assert process.returncode == 130, complaint
    assert json.loads(told)["status"] == "interrupted"
    assert json.loads((tmp_path / "stopped" / "run.json").read_text())["state"] == "interrupted"
    assert pq.read_table(tmp_path / "stopped" / "findings.parquet").num_rows == 400

    for out, more in (("stopped", ("--resume",)), ("whole", ())):
        process = started(out, *more)
        told, complaint = process.communicate()
        assert process.returncode == 0, complaint
        assert json.loads(told)["status"] == "weighed"
    stopped, whole = (pq.read_table(tmp_path / out / "findings.parquet") for out in ("stopped", "whole"))
    assert stopped.equals(whole)
    assert not stages.exists()
