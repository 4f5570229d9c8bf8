"""A run that is killed at any point goes on, and finds the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tests.runs.tables import written

KILLS = 20
# In a process of its own, with one thread. A run is killed again and again, each time as a file (a stage, the
# findings, the report, the record) is put in place: before the second one, or after the third.
DRIVER = """
import json, os, signal, sys
from pathlib import Path
import duti.runs.run
from duti.runs.folder import Folder
from duti.runs.settings import Settings

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
train, trusted = folder / "rows.csv", folder / "trusted.csv"
settings = Settings(train=train, trusted=trusted, label="granted", drop=("name",))
put_in_place = os.replace
calls = 0

def mortal(kill):
    def replace(*args, **kwargs):
        global calls
        calls += 1
        if calls == 2 and kill % 2 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        put_in_place(*args, **kwargs)
        if calls == 3:
            os.kill(os.getpid(), signal.SIGKILL)
    return replace

def child(out, replace, resume):
    pid = os.fork()
    if pid == 0:
        os.replace = replace
        duti.runs.run.perform(Folder(out), settings, resume=resume)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

codes = [child(folder / "whole", put_in_place, False)]
codes += [child(folder / "killed", mortal(kill), kill > 0) for kill in range(kills)]
codes.append(child(folder / "killed", put_in_place, True))
print(json.dumps(codes))
"""


def test_a_run_that_is_killed_again_and_again_goes_on_and_finds_the_same(tmp_path: Path) -> None:
    written(tmp_path, n=60, m=20)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(tmp_path), str(KILLS)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert json.loads(done.stdout) == [0, *[-9] * KILLS, 0]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    expected, found = (pq.read_table(folder / "findings.parquet") for folder in (whole, killed))
    for name in expected.column_names:
        if name == "label_quality":
            np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-9)
        else:
            assert found[name].to_pylist() == expected[name].to_pylist(), name
    assert {file.name for file in killed.iterdir()} == {file.name for file in whole.iterdir()}
    assert json.loads((killed / "run.json").read_text(encoding="utf-8"))["state"] == "finished"
