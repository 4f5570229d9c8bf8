"""Findings as frames and as files: the same labels, the same rows, and nothing half-written."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import pickle
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import duti
from duti import DutiError, Findings, KernelLogistic, KernelRidge, Logistic, ProblemError, Ridge, Status, Step
from duti.claims import BugCount
from duti.findings import scored
from duti.storage import FORMAT

COLUMNS = [
    "row",
    "rank",
    "given_label",
    "suggested_label",
    "candidate_label",
    "label_quality",
    "first_step",
    "deviation",
]
OLD = Path(__file__).parent / "data" / "findings-format-2.duti"
"""Twelve rows that the automatic recipe debugged, row 0 verified and row 5 flagged, as saved in format 2."""
X = np.linspace(0, 1, 12)[:, None]
TEXT = np.array(["no"] * 5 + ["yes"] * 7)


def classification(X: Any = X, y: Any = TEXT, **options: Any) -> Findings:
    """Row 5 is wrong, and the trusted item says so."""
    learner = KernelLogistic(bandwidth=0.3, ridge=0.01)
    trusted = X[5:6] if isinstance(X, np.ndarray | pd.DataFrame | pl.DataFrame) else X.slice(5, 1)
    return duti.debug(X, y, trusted, [y[0]], learner=learner, **options)


@cache
def nothing_to_fix() -> Findings:
    findings = duti.debug(X, TEXT, X[:1], ["no"], learner=KernelLogistic(0.3, 0.01), confidence=0)
    return dataclasses.replace(findings, path=(), status=Status.NOTHING_TO_FIX)


# Frames


@pytest.mark.parametrize(
    "library, kind", [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_has_the_promised_columns_in_rank_order(library: str, kind: Any) -> None:
    findings = classification()
    frame = findings.to_frame(library)
    assert type(frame) is kind
    assert list(frame.columns if library != "pyarrow" else frame.column_names) == COLUMNS
    table = (
        frame if isinstance(frame, pa.Table) else pa.table({name: pa.array(frame[name]) for name in COLUMNS})
    )
    assert table["row"].to_pylist() == findings.ranking.tolist()
    assert table["rank"].to_pylist() == list(range(1, 13))
    assert table["given_label"].to_pylist() == TEXT[findings.ranking].tolist()
    assert table["suggested_label"].to_pylist() == findings.suggested_labels[findings.ranking].tolist()
    assert table["candidate_label"].to_pylist() == findings.candidate_labels[findings.ranking].tolist()
    assert table["label_quality"].to_pylist() == findings.label_quality[findings.ranking].tolist()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_row_that_was_never_flagged_has_no_first_step(library: str) -> None:
    findings = classification(budget=1, recipe="paper")
    never = findings.first_step[findings.ranking] == 0
    assert never.any()
    assert not never.all()
    frame = findings.to_frame(library)
    for name in ("first_step", "deviation"):
        column = pa.array(frame[name].to_pylist() if library == "pyarrow" else frame[name], from_pandas=True)
        np.testing.assert_array_equal(column.is_null(), never)
        values = getattr(findings, name)[findings.ranking]
        assert column.drop_null().to_pylist() == values[~never].tolist()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_a_path_without_steps_has_only_nulls_there(library: str) -> None:
    findings = dataclasses.replace(nothing_to_fix(), first_step=np.zeros(12, dtype=np.int64))
    frame = findings.to_frame(library)
    column = frame["first_step"].to_pylist() if library == "pyarrow" else frame["first_step"]
    assert pa.array(column, from_pandas=True).null_count == 12


@pytest.mark.parametrize(
    "frame", [pd.DataFrame({"x": X[:, 0]}), pl.DataFrame({"x": X[:, 0]}), pa.table({"x": X[:, 0]})], ids=type
)
def test_the_answer_comes_in_the_library_of_the_question(frame: Any) -> None:
    assert type(classification(X=frame).to_frame()) is type(frame)


def test_without_a_frame_the_answer_is_pandas() -> None:
    assert isinstance(classification().to_frame(), pd.DataFrame)


def test_without_pandas_the_answer_is_an_arrow_table(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pandas" else find_spec(name)
    )
    findings = classification(X=pd.DataFrame(X))
    assert isinstance(findings.to_frame(), pa.Table)
    with pytest.raises(ProblemError, match="library is 'pandas', which is not installed"):
        findings.to_frame("pandas")


@pytest.mark.parametrize("library", ["spark", "os", "", "modin"])
def test_an_unknown_library_is_refused_with_the_known_ones(library: str) -> None:
    with pytest.raises(
        ProblemError, match=f"library is '{library}'; use one of 'pandas', 'polars', 'pyarrow'"
    ):
        classification().to_frame(library)


INDEXES: dict[str, Any] = {
    "text": pd.Index([f"row {i}" for i in range(12)]),
    "numbers": pd.Index(range(100, 112)),
    "floats": pd.Index(np.arange(12) / 2),
    "booleans": pd.Index([True, False] * 6),
    "times": pd.date_range("2024-01-01", periods=12),
    "nanoseconds": pd.to_datetime(10**18 + np.arange(12)),
    "time zone": pd.date_range("2024-03-25", periods=12, tz="Europe/Berlin"),
    "nanoseconds in a time zone": pd.to_datetime(10**18 + np.arange(12)).tz_localize("Europe/Berlin"),
    "durations": pd.to_timedelta(np.arange(12), unit="D"),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES.keys())
def test_rows_are_called_by_the_index_of_the_frame(index: Any) -> None:
    findings = classification(X=pd.DataFrame(X, index=index))
    frame = findings.to_frame()
    assert frame["row"].dtype == index.dtype
    assert frame["row"].tolist() == index[findings.ranking].tolist()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES.keys())
def test_an_index_survives_in_frames_that_have_none(index: Any, library: str) -> None:
    findings = classification(X=pd.DataFrame(X, index=index))
    rows = findings.to_frame(library)["row"]
    rows = rows if library == "pyarrow" else rows.to_arrow()
    assert pd.Index(rows.to_pandas()).equals(index[findings.ranking])


def test_an_index_that_arrow_has_no_type_for_is_text() -> None:
    index = pd.MultiIndex.from_product([["a", "b"], range(6)])
    findings = classification(X=pd.DataFrame(X, index=index))
    assert set(findings.to_frame()["row"]) == {f"('{letter}', {number})" for letter, number in index}


# Files


def assert_same(found: Any, expected: Any) -> None:
    """Equal in type and value, field by field, down to the arrays."""
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if expected.dtype == object:
            assert [type(value) for value in found] == [type(value) for value in expected]
        np.testing.assert_array_equal(found, expected)
        assert found.flags.writeable
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, Findings | Step):
        for field in dataclasses.fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name))
    else:
        assert found == expected


def stored(findings: Findings, folder: Path) -> Findings:
    findings.save(folder / "findings.duti")
    return duti.load(folder / "findings.duti")


LABELS = {
    "text": TEXT,
    "text objects": TEXT.astype(object),
    "numbers": np.where(TEXT == "no", 3, 7),
    "small numbers": np.where(TEXT == "no", 3, 7).astype(np.int8),
    "large numbers": np.where(TEXT == "no", 2**64 - 1, 2**63).astype(np.uint64),
    "number objects": np.where(TEXT == "no", 3, 7).astype(object),
    "booleans": TEXT == "no",
    "boolean objects": (TEXT == "no").astype(object),
    "whole floats": np.where(TEXT == "no", 3.0, 7.0),
    "odd text": np.where(TEXT == "no", "", "ä\n\t\0ö😀"),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS.keys())
def test_a_classification_comes_back_exactly(y: Any, tmp_path: Path) -> None:
    findings = classification(y=y)
    assert findings.path
    assert_same(stored(findings, tmp_path), findings)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_regression_comes_back_exactly(dtype: Any, tmp_path: Path) -> None:
    y = 3 * X[:, 0].astype(dtype)
    y[4] = -7
    findings = duti.debug(X, y, X[4:5], [1.0], learner=KernelRidge(0.3, 1e-3), budget=2, verified={0: 0.1})
    assert any(step.delta.ndim == 1 and len(step.delta) for step in findings.path)
    assert_same(stored(findings, tmp_path), findings)


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES.keys())
def test_an_index_comes_back_exactly(index: Any, tmp_path: Path) -> None:
    findings = classification(X=pd.DataFrame(X, index=index))
    loaded = stored(findings, tmp_path)
    assert_same(loaded, findings)
    pd.testing.assert_frame_equal(loaded.to_frame(), findings.to_frame())


@pytest.mark.parametrize("read", [pl.DataFrame, lambda columns: pa.table(columns)])
def test_the_library_comes_back(read: Any, tmp_path: Path) -> None:
    findings = classification(X=read({"x": X[:, 0]}))
    assert type(stored(findings, tmp_path).to_frame()) is type(findings.to_frame())


def test_an_empty_path_comes_back(tmp_path: Path) -> None:
    assert_same(stored(nothing_to_fix(), tmp_path), nothing_to_fix())


def test_notes_verified_rows_and_an_uneven_path_come_back(tmp_path: Path) -> None:
    findings = classification(X=np.vstack([X[:11], X[10:11]]), verified={0: "no"}, budget=12)
    assert findings.notes
    assert findings.verified.any()
    assert_same(stored(findings, tmp_path), findings)


@pytest.mark.parametrize(
    "learner",
    [
        KernelLogistic(0.5, 0.1, intercept=False),
        KernelLogistic(float(np.float32(0.1)), np.float64(0.3)),
        KernelRidge(None, 1e-3, standardize=True),
        Logistic(0.1),
        Ridge(2, intercept=True),
    ],
    ids=repr,
)
def test_every_learner_comes_back(learner: Any, tmp_path: Path) -> None:
    loaded = stored(dataclasses.replace(classification(), learner=learner), tmp_path)
    assert loaded.learner == learner


def test_hyperparameters_that_are_numpy_numbers_come_back(tmp_path: Path) -> None:
    bandwidth: Any = np.float32(0.1)
    ridge: Any = np.int64(2)
    learner = KernelLogistic(bandwidth, ridge)
    assert stored(dataclasses.replace(nothing_to_fix(), learner=learner), tmp_path).learner == learner


@given(
    st.builds(
        Step,
        gamma=st.floats(0, 1e6),
        objective=st.floats(allow_nan=False),
        rows=hnp.arrays(np.int64, 3),
        delta=hnp.arrays(np.float64, st.sampled_from([(3, 2), (3, 5), (0, 4), (0,), (3,)])),
        flagged=hnp.arrays(np.int64, st.integers(0, 3)),
        accuracy=st.floats(allow_nan=False),
        status=st.sampled_from(Status),
    ),
    st.floats(allow_nan=False),
)
def test_any_step_comes_back_exactly(step: Step, gamma_max: float) -> None:
    findings = dataclasses.replace(nothing_to_fix(), path=(step, step), gamma_max=gamma_max)
    with tempfile.TemporaryDirectory() as folder:
        assert_same(stored(findings, Path(folder)), findings)


def test_a_file_holds_json_and_arrow_and_no_objects(tmp_path: Path) -> None:
    classification(y=TEXT.astype(object)).save(tmp_path / "findings.duti")
    with zipfile.ZipFile(tmp_path / "findings.duti") as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if name == "meta.json":
                json.loads(data)
            else:
                schema = pa.ipc.open_file(pa.BufferReader(data)).schema
                assert not any(pa.types.is_binary(kind) for kind in schema.types)


def test_a_path_may_be_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nothing_to_fix().save("findings.duti")
    assert_same(duti.load("findings.duti"), nothing_to_fix())


def test_a_learner_from_elsewhere_is_refused_when_saving(tmp_path: Path) -> None:
    class MyLearner(Logistic):
        pass

    findings = dataclasses.replace(nothing_to_fix(), learner=MyLearner(0.1))
    with pytest.raises(
        DutiError, match=r"learner MyLearner cannot be saved, only those of .*KernelRidge.*to_frame"
    ):
        findings.save(tmp_path / "findings.duti")
    assert not list(tmp_path.iterdir())


# Files that are missing, foreign or damaged


def test_a_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        duti.load(tmp_path / "nowhere.duti")


@pytest.mark.parametrize("data", [b"", b"hello", pickle.dumps([1, 2, 3]), b"PK\x03\x04", b"ARROW1" * 100])
def test_a_foreign_file_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "foreign").write_bytes(data)
    with pytest.raises(DutiError, match="foreign is not a findings file, or it is damaged"):
        duti.load(tmp_path / "foreign")


def rewritten(folder: Path, **changes: bytes | None) -> Path:
    """A findings file with some members replaced, or left out if None."""
    nothing_to_fix().save(folder / "findings.duti")
    with zipfile.ZipFile(folder / "findings.duti") as archive:
        members: dict[str, bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    members |= {
        name.replace("_json", ".json").replace("_arrow", ".arrow"): data for name, data in changes.items()
    }
    with zipfile.ZipFile(folder / "changed.duti", "w") as archive:
        for name, data in members.items():
            if data is not None:
                archive.writestr(name, data)
    return folder / "changed.duti"


def changed_meta(folder: Path, **changes: Any) -> Path:
    nothing_to_fix().save(folder / "findings.duti")
    with zipfile.ZipFile(folder / "findings.duti") as archive:
        meta = json.loads(archive.read("meta.json")) | changes
    return rewritten(folder, meta_json=json.dumps(meta).encode())


@pytest.mark.parametrize(
    "changes",
    [
        {"meta_json": None},
        {"meta_json": b"not json"},
        {"meta_json": b"[]"},
        {"meta_json": b"{}"},
        {"meta_json": b"\xff"},
        {"path_arrow": None},
        {"path_arrow": b""},
        {"ranking_arrow": b"not arrow"},
    ],
    ids=repr,
)
def test_a_file_with_a_bad_member_is_refused(changes: dict[str, bytes | None], tmp_path: Path) -> None:
    with pytest.raises(DutiError, match="is not a findings file, or it is damaged"):
        duti.load(rewritten(tmp_path, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "HAPPY"},
        {"learner": {"name": "Forest"}},
        {"learner": {"name": "Ridge", "trees": 3}},
        {"learner": {"name": "Oracle"}},
        {"dtypes": {}},
        {"dtypes": {"ranking": "nonsense"}},
        {"notes": None},
        {"surplus": 1},
    ],
    ids=repr,
)
def test_a_file_with_bad_metadata_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(DutiError, match="is not a findings file, or it is damaged"):
        duti.load(changed_meta(tmp_path, **changes))


def test_a_file_of_a_later_version_says_so(tmp_path: Path) -> None:
    with pytest.raises(
        DutiError, match=f"has format {FORMAT + 1}; this version of duti reads up to {FORMAT}"
    ):
        duti.load(changed_meta(tmp_path, format=FORMAT + 1))


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    nothing_to_fix().save(tmp_path / "findings.duti")
    data = (tmp_path / "findings.duti").read_bytes()
    for length in range(0, len(data), 97):
        (tmp_path / "cut").write_bytes(data[:length])
        with pytest.raises(DutiError, match="cut is not a findings file, or it is damaged"):
            duti.load(tmp_path / "cut")


@cache
def file_bytes() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        nothing_to_fix().save(Path(folder) / "findings.duti")
        return (Path(folder) / "findings.duti").read_bytes()


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_wrong_byte_is_harmless_or_a_duti_error(place: int, change: int) -> None:
    data = bytearray(file_bytes())
    data[place % len(data)] ^= change
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "damaged").write_bytes(data)
        try:
            loaded = duti.load(Path(folder) / "damaged")
        except DutiError:
            return
    assert_same(loaded, nothing_to_fix())


# Writing fails


def fail(error: BaseException) -> Callable[..., Any]:
    def failing(*_: Any, **__: Any) -> Any:
        raise error

    return failing


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), MemoryError()], ids=repr)
@pytest.mark.parametrize("place", ["zipfile.ZipFile.writestr", "zipfile.ZipFile.close", "os.replace"])
def test_a_failing_write_leaves_everything_as_it_was(
    error: BaseException, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "findings.duti"
    for before in (None, b"what was there"):
        if before is not None:
            path.write_bytes(before)
        with monkeypatch.context() as patch:
            patch.setattr(place, fail(error))
            with pytest.raises(type(error)):
                nothing_to_fix().save(path)
        assert [file.name for file in tmp_path.iterdir()] == ([] if before is None else ["findings.duti"])
        assert before is None or path.read_bytes() == before


def test_saving_again_replaces_the_file(tmp_path: Path) -> None:
    classification().save(tmp_path / "findings.duti")
    assert_same(stored(nothing_to_fix(), tmp_path), nothing_to_fix())
    assert [file.name for file in tmp_path.iterdir()] == ["findings.duti"]


@pytest.mark.parametrize("place", ["nowhere/findings.duti", "."])
def test_a_place_that_cannot_be_written_is_the_usual_error(place: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        nothing_to_fix().save(tmp_path / "folder" / place)
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]
    assert not list((tmp_path / "folder").iterdir())


def test_a_new_file_can_be_read_by_whom_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "ordinary").write_bytes(b"")
    nothing_to_fix().save(tmp_path / "findings.duti")
    assert (tmp_path / "findings.duti").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_findings_without_a_learner_come_back(tmp_path: Path) -> None:
    problem = duti.Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    found = scored(problem, np.array([0.1, 0.9, 0.2]), np.array([0, 0, 1]), np.array([False, True, False]))
    found.save(tmp_path / "scored.duti")
    back = duti.load(tmp_path / "scored.duti")
    assert back.learner is None
    assert back.status is duti.Status.SCORED
    np.testing.assert_array_equal(back.ranking, found.ranking)


# What is claimed, and files from before it was


def test_every_claim_comes_back(tmp_path: Path) -> None:
    claims: dict[str, Any] = {
        "learners": (
            duti.LearnerSummary("the labels as given", "Ridge", {"ridge": 0.1}, None, 0.75, 0.5, None),
            duti.LearnerSummary("given", "the given probabilities", {}, 0.25, 0.25, None, 0.125),
        ),
        "systematic": 0.25,
        "expected_bugs": BugCount(3.0, 1.0, 5.5),
        "verdict": duti.Verdict.RANDOM,
        "verdict_reason": "Because.",
        "power": duti.Power.of(7, called=0.5),
        "budget": None,
    }
    read = stored(dataclasses.replace(classification(), **claims), tmp_path)
    assert {name: getattr(read, name) for name in claims} == claims


def test_settings_of_learners_from_elsewhere_are_kept_to_be_read(tmp_path: Path) -> None:
    settings = {"depth": np.int64(3), "base": {1}, "share": np.float64(0.5)}
    learner = duti.LearnerSummary("the labels as given", "Forest", settings, None, 1.0, None, None)
    (read,) = stored(dataclasses.replace(classification(), learners=(learner,)), tmp_path).learners
    assert read.settings == {"depth": 3, "base": "{1}", "share": 0.5}


def test_findings_saved_in_format_2_are_still_read() -> None:
    old = duti.load(OLD)
    assert old.verdict is None
    assert old.power is None
    assert not old.probabilistic
    assert old.candidate_labels.tolist() == old.suggested_labels.tolist() == 6 * ["no"] + 6 * ["yes"]
    assert old.flagged.tolist() == [5]
    assert old.budget == 3
    assert sum(learner.weight for learner in old.learners) == pytest.approx(1.0)
    first = old.learners[0]
    assert (first.kind, first.name) == ("the labels as given", "KernelLogistic")
    assert (first.settings["bandwidth"], first.settings["ridge"]) == (0.3, 0.01)
    assert (first.gamma, first.row_loss) == (None, None)  # its price was infinite
    assert first.trusted_loss == pytest.approx(0.604, abs=1e-3)
    assert [learner.gamma for learner in old.learners if learner.gamma is not None]
    assert old.corrected_labels(top=0).tolist() == old.given_labels.tolist()
    assert old.corrected_labels().tolist() == old.suggested_labels.tolist()


def test_findings_saved_in_format_1_are_still_read(tmp_path: Path) -> None:
    """They are as those of format 2, without what many learners say."""
    with zipfile.ZipFile(OLD) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(members["meta.json"]) | {"format": 1}
    for name in ("opinions", "systematic", "expected_bugs"):
        del meta[name]
    with zipfile.ZipFile(tmp_path / "old.duti", "w") as archive:
        for name, data in (members | {"meta.json": json.dumps(meta).encode()}).items():
            archive.writestr(name, data)
    old = duti.load(tmp_path / "old.duti")
    assert (old.learners, old.systematic, old.expected_bugs, old.verdict) == ((), None, None, None)
    assert old.candidate_labels.tolist() == old.suggested_labels.tolist()


def test_an_old_file_is_saved_as_a_new_one(tmp_path: Path) -> None:
    old = duti.load(OLD)
    read = stored(old, tmp_path)
    assert (read.learners, read.expected_bugs) == (old.learners, old.expected_bugs)
    assert read.candidate_labels.tolist() == old.candidate_labels.tolist()
