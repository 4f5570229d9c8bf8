"""What a report says."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

import duti
from duti.arrays import Array
from duti.claims import BugCount, LearnerSummary, Verdict
from duti.findings import scored
from duti.report import Case, html
from duti.report.bias import bias
from duti.report.marks import Marks
from duti.report.path_chart import path_chart
from duti.report.projection import projection
from duti.report.summary import agreements, summary
from duti.report.svg import Scale
from duti.report.text import SPACE, percent
from duti.report.thumbnails import thumbnail
from duti.report.trusted import item_names, trusted_table
from duti.report.view import view
from tests.report import cases


@pytest.fixture(scope="module")
def students() -> Case:
    return cases.harry_potter()


@pytest.fixture(scope="module")
def sine() -> Case:
    return cases.sine()


def flags_of(rows: pa.Table, flagged: list[int], **more: object) -> Case:
    """A run that flagged some rows of a table."""
    n = rows.num_rows
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) % 2, "a", "b")
    problem = duti.Problem(X, y, X[:12], y[:12])
    mask = np.isin(np.arange(n), flagged)
    found = scored(
        problem, mask.astype(np.float64), 1 - problem.y, mask, budget=n, learner=duti.Logistic(ridge=0.1)
    )
    rows = rows.append_column("label", pa.array(y))
    return cases.case_of(problem, found, rows, rows.slice(0, 12), **more)


def judged(wrong: Array, *, budget: int | None = None, **claims: Any) -> Case:
    """Rows whose labels are wrong with these probabilities, the probable ones changed."""
    n, rng = len(wrong), np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] > 0, "a", "b")
    problem = duti.Problem(X, y, X[:12], y[:12])
    flagged = wrong > (0.5 if budget is None else 0.1)
    claims = dict[str, Any](verdict=Verdict.RANDOM, learner=duti.Logistic(ridge=0.1)) | claims
    found = scored(
        problem,
        wrong,
        1 - problem.y,
        flagged,
        changed=wrong > 0.5,
        budget=budget,
        quality=1 - wrong,
        **claims,
    )
    rows = pa.table({"x": X[:, 0], "label": y})
    return cases.case_of(problem, found, rows, rows.slice(0, 12))


CLEAN, BUGGY = np.full(40, 0.01), np.where(np.arange(40) < 6, 0.9, np.where(np.arange(40) < 9, 0.3, 0.01))


def said(case: Case) -> str:
    told = summary(case)
    return " ".join([told.sentence, *told.more]).replace(SPACE, " ")


class TestSummary:
    @pytest.mark.parametrize("verdict", list(Verdict))
    def test_begins_with_the_verdict_and_why(self, verdict: Verdict) -> None:
        power = duti.Power.of(12, called=0.3)
        case = judged(BUGGY, verdict=verdict, verdict_reason="This is why.", power=power)
        told = summary(case)
        assert told.sentence == verdict
        assert told.more[:2] == ("This is why.", power.sentence)

    def test_of_nothing_claims_nothing(self) -> None:
        case = judged(CLEAN, verdict=Verdict.NO_EVIDENCE, systematic=None)
        told = said(case)
        assert "None of the 40 rows is flagged. No label is changed." in told
        assert "How many labels are wrong, if any, cannot be told" in told
        page = html(case)
        assert "No row is flagged." in page
        for claim in ("mislabelled", "bugs", "fixes", "uspicious", "needs to change", "contradict"):
            assert claim not in told
            assert claim not in page

    def test_a_path_of_one_learner_is_not_taken_for_the_number_of_bugs(self, students: Case) -> None:
        assert "does not say how many labels are wrong" in html(students)

    def test_flags_for_a_budget_are_no_claims(self) -> None:
        case = judged(np.full(40, 0.2), budget=5, verdict=Verdict.NO_EVIDENCE)
        told = said(case)
        assert (
            "5 of 40 rows are flagged to be looked at, none of them more probably wrong than right." in told
        )
        assert "No label is changed." in told
        assert "mislabelled" not in html(case)
        assert "not applied" in html(case)

    def test_counts_what_is_flagged_probable_and_fixed(self) -> None:
        assert "6 of 40 rows are flagged, all more probably wrong than right. 6 fixes " in said(judged(BUGGY))
        told = said(judged(BUGGY, budget=20))
        assert (
            "9 of 40 rows are flagged to be looked at, 6 of them more probably wrong than right. 6 fixes "
            in told
        )
        assert "The other 3 flagged rows keep their labels." in told

    def test_says_what_a_budget_left_out(self) -> None:
        told = said(judged(BUGGY, budget=4))
        assert "4 of 40 rows are flagged, all more probably wrong than right; so are 2 others, but" in told
        assert "no more than 4 rows were to be flagged. 6 fixes " in told

    def test_a_single_row_is_told_in_the_singular(self) -> None:
        case = judged(np.where(np.arange(40) == 3, 0.9, 0.01), expected_bugs=BugCount(1.2, 1.0, 3.0))
        assert "1 of 40 rows is flagged, more probably wrong than right. 1 fix " in said(case)
        assert re.search(r"1 fix (raises|lowers|leaves) agreement", said(case))
        assert "About 1 label is wrong in all (1 to 3)." in said(case)

    def test_tells_the_number_with_its_interval_or_that_it_cannot_be_told(self) -> None:
        told = said(judged(BUGGY, expected_bugs=BugCount(6.3, 3.5, 9.2)))
        assert "About 6 labels are wrong in all (3 to 10)." in told
        assert "How many labels are wrong in all cannot be told" in said(judged(BUGGY))
        few = judged(CLEAN, verdict=Verdict.NO_EVIDENCE, expected_bugs=BugCount(0.4, 0.0, 2.5))
        assert "Between 0 and 3 labels may be wrong in all." in said(few)

    def test_bugs_are_systematic_only_given_that_there_are_any(self) -> None:
        told = said(judged(BUGGY, verdict=Verdict.SYSTEMATIC, systematic=0.97))
        assert "Given that there are bugs, they are systematic with probability 97 %." in told
        assert "systematic" not in said(judged(CLEAN, verdict=Verdict.NO_EVIDENCE, systematic=0.97))

    def test_what_fixes_do_to_the_trusted_items_is_measured(self) -> None:
        case = judged(BUGGY)
        before, after = (percent(count / 12).replace(SPACE, " ") for count in agreements(case))
        assert f"from {before} to {after}" in said(case) or f"at {after}" in said(case)

    def test_tells_errors_of_a_regression(self, sine: Case) -> None:
        assert re.search(
            r"fixes lower the mean error on the trusted items from 0\.\d+ to 0\.\d+\.", said(sine)
        )

    def test_without_a_verdict_flags_are_told(self) -> None:
        case = flags_of(pa.table({"x": np.arange(40.0)}), [1, 2, 3])
        told = said(case)
        assert re.match(r"3 of 40 rows look mislabelled; 3 fixes (raise|lower|leave) agreement", told)
        assert told.count(" %") in (1, 2)
        assert (
            said(flags_of(pa.table({"x": np.arange(40.0)}), [])) == "None of the 40 rows looks mislabelled."
        )

    def test_without_a_verdict_a_spent_budget_is_told(self) -> None:
        case = flags_of(pa.table({"x": np.arange(40.0)}), [1, 2, 3])
        spent = replace(case, findings=replace(case.findings, budget=3))
        assert "No more than 3 rows were to be flagged, so there may be others." in said(spent)
        assert "others" not in said(case)

    @pytest.mark.parametrize(
        "verdict, rest", [(Verdict.RANDOM, "labels are wrong"), (None, "6 of 40 rows look")]
    )
    def test_says_that_a_run_was_interrupted(self, verdict: Verdict | None, rest: str) -> None:
        page = html(judged(BUGGY, verdict=verdict, status=duti.Status.INTERRUPTED))
        assert f"The run was interrupted; as far as it got, {rest}" in page


class TestLearners:
    def test_are_shown_with_weight_settings_and_losses(self) -> None:
        learners = (
            LearnerSummary(
                "the labels as given", "Forest", {"trees": 300, "depth": None}, None, 0.7, 0.25, 0.5
            ),
            LearnerSummary("the labels as debugged", "Ridge", {"ridge": 0.123456}, 0.5, 0.299, None, None),
            LearnerSummary("the trusted items", "Tree", {}, None, 0.001, None, None),
        )
        page = html(judged(BUGGY, learners=learners)).replace(SPACE, " ")
        assert "Forest(trees=300)</td>" in page
        assert "Ridge(ridge=0.1235)</td>" in page
        assert "70 %" in page
        assert ">0.25</td>" in page
        assert "Tree</td>" not in page
        assert "2 of 3 learners, those with the most weight." in page


class TestFlaggedRows:
    def test_a_score_is_not_called_a_probability(self, students: Case) -> None:
        plain = replace(students, findings=replace(students.findings, learners=(), verdict=None))
        assert "P(wrong)" in html(students)
        assert "P(wrong)" not in html(plain)
        assert "it is not a probability" in html(plain)

    def test_candidates_that_are_not_applied_are_called_so(self) -> None:
        page = html(judged(BUGGY, budget=20))
        assert page.count("<tr data-row=") == 9
        assert page.count("not applied</small>") == 3
        assert page.count("<strong><bdi>") == 6

    def test_many_rows_are_cut_and_counted(self) -> None:
        case = flags_of(pa.table({"x": np.arange(600.0)}), list(range(0, 600, 2)))
        page = html(case)
        assert page.count("<tr data-row=") == 200
        assert "The first 200 of 300 flagged rows; all are in findings.csv." in page

    def test_columns_that_do_not_fit_open_on_demand(self) -> None:
        case = flags_of(pa.table({f"column{j}": np.arange(40) for j in range(9)}), [1], groups=("column8",))
        page = html(case)
        assert "<summary>3 more</summary>" in page
        assert page.index("<bdi>column8</bdi>") < page.index("<bdi>column0</bdi>")


class TestTrustedItems:
    def test_are_shown_before_and_after(self) -> None:
        students = cases.harry_potter(detector=duti.Duti(duti.KernelLogistic(0.5, 2e-3), budget=15))
        table = trusted_table(students, Marks.of(students), item_names(students))
        told = {item.name: (item.label, item.before.agrees, item.after.agrees) for item in table.items}
        assert told == {"item 1": ("hired", False, True), "item 0": ("not hired", True, True)}

    def test_verified_rows_are_called_by_their_names(self) -> None:
        X, y = np.arange(8.0)[:, None], np.array(list("aaabbbbb"))
        problem = duti.Problem(X, y, [[0.5]], ["a"], verified={3: "a", 6: "b"})
        found = duti.Duti(duti.KernelLogistic(2.0, 0.01), budget=2).rank(problem)
        rows = pa.table({"x": X[:, 0], "label": y})
        case = cases.case_of(problem, found, rows, pa.table({"x": [0.5], "label": ["a"]}))
        assert item_names(case) == ("item 0", "verified row 3", "verified row 6")
        cells = {i.name: i.cells for i in trusted_table(case, Marks.of(case), item_names(case)).items}
        assert cells["verified row 6"] == ("6",)
        nothing_given = replace(problem_without_items(X, y), rows=rows)
        assert item_names(nothing_given) == ("verified row 3", "verified row 6")
        assert "row 6" in html(nothing_given)


def problem_without_items(
    X: np.ndarray[tuple[int, int], np.dtype[np.float64]], y: np.ndarray[tuple[int], np.dtype[np.str_]]
) -> Case:
    problem = duti.Problem(X, y, verified={3: "a", 6: "b"})
    found = duti.Duti(duti.KernelLogistic(2.0, 0.01), budget=2).rank(problem)
    rows = pa.table({"x": X[:, 0], "label": y})
    return cases.case_of(problem, found, rows, rows.slice(0, 0))


class TestBias:
    def test_a_value_with_all_flags_stands_out(self) -> None:
        town = np.array(["north", "south", "west", "east"])[np.arange(200) % 4]
        rows = pa.table({"noise": np.sin(np.arange(200.0)), "town": town})
        found = bias(flags_of(rows, list(range(0, 100, 4))))
        assert "Flags gather where town is north: 25 of these 50 rows are flagged (50" in found.sentence
        assert found.columns[0].column == "town"
        assert (found.columns[0].values[0].rows, found.columns[0].values[0].flagged) == (50, 25)
        assert "noise" not in [column.column for column in found.columns]

    def test_groups_come_first_and_always(self) -> None:
        rows = pa.table({"a": np.arange(200) % 2, "b": np.arange(200) % 3})
        found = bias(flags_of(rows, list(range(0, 100, 3)), groups=("a",)))
        assert [column.column for column in found.columns][:2] == ["a", "b"]

    def test_numbers_and_dates_are_binned_and_missing_values_counted(self) -> None:
        day = [datetime(2020, 1, 1) + timedelta(days=i) for i in range(200)]
        number = [None if i < 20 else float(i) for i in range(200)]
        rows = pa.table({"day": day, "number": number, "empty": pa.nulls(200, pa.float64())})
        found = {column.column: column for column in bias(flags_of(rows, list(range(30)))).columns}
        assert found["day"].values[0].name == "2020-01-01 to 2020-02-09"
        assert sum(value.rows for value in found["day"].values) == 200
        assert (found["number"].values[-1].name, found["number"].values[-1].flagged) == ("missing", 20)
        assert "empty" not in found

    def test_ids_are_left_out_and_rare_values_pooled(self) -> None:
        kinds = [str(i % 30) for i in range(300)]
        rows = pa.table({"id": [f"id{i}" for i in range(300)], "kind": kinds})
        found = {column.column: column for column in bias(flags_of(rows, list(range(0, 300, 30)))).columns}
        assert set(found) == {"kind"}
        assert found["kind"].values[0].name == "0"
        assert found["kind"].values[-1].name == "22 other values"

    def test_the_label_is_no_group_unless_it_is_named(self) -> None:
        rows, flagged = pa.table({"x": np.arange(200.0)}), list(range(0, 100, 2))  # all of them are "b"
        assert "label" not in [column.column for column in bias(flags_of(rows, flagged)).columns]
        named = bias(flags_of(rows, flagged, groups=("label",)))
        assert "where label is b" in named.sentence

    def test_nothing_is_said_to_be_significant(self) -> None:
        """Flags are made from the columns: on a clean table, too, they follow some of them."""
        town = np.array(["north", "south"])[np.arange(200) % 2]
        page = html(flags_of(pa.table({"town": town}), list(range(0, 200, 2))))
        assert "where town is north" in page
        assert not re.search(r"chi-square|\bp [<=]|significan|by chance|beyond chance", page)

    def test_flags_that_are_everywhere_gather_nowhere(self) -> None:
        rows = pa.table({"coin": (np.arange(400) // 2) % 2})
        flagged = [0, 1, 2, 3, 100, 101, 102, 103]
        found = bias(flags_of(rows, flagged))
        assert found.sentence == "Flags do not gather at the values of any column."

    @pytest.mark.parametrize("absent", [False, True])
    @pytest.mark.parametrize("kind", ["date", "unsigned", "infinite"])
    def test_a_column_of_a_single_value_has_a_single_bin(self, kind: str, absent: bool) -> None:
        n = 60
        cells: dict[str, tuple[list[Any], Any]] = {
            "date": ([datetime(2020, 1, 5)] * n, pa.timestamp("us")),
            "unsigned": ([2**63 + i for i in range(n)], pa.uint64()),  # as floats all the same
            "infinite": ([float("inf")] * n, pa.float64()),
        }
        values, held = cells[kind]
        gone = absent & (np.arange(n) % 3 == 0)
        told_cells = [None if lost else value for value, lost in zip(values, gone, strict=True)]
        column = pa.array(told_cells, held)
        rows = pa.table({"only": column, "other": np.arange(n) % 2})
        found = {one.column: one for one in bias(flags_of(rows, list(range(20)), groups=("only",))).columns}
        told = [(value.name, value.rows) for value in found["only"].values] if "only" in found else []
        assert ("missing", 20) in told or not absent or kind == "infinite"
        assert sum(rows for _, rows in told) in (0, n)


class TestPictures:
    def test_axes_have_the_units_of_the_column(self, students: Case) -> None:
        problem = students.problem
        scaled = duti.Problem(
            1000 * problem.X + 5, problem.given, 1000 * problem.X_trusted + 5, ["hired", "not hired"]
        )
        case = cases.case_of(scaled, students.findings, students.rows, students.trusted)
        picture = view(case, Marks.of(case)).panels[0][1]
        assert ">heritage</text>" in picture
        assert ">0.5</text>" in picture

    def test_many_rows_are_thinned_but_flagged_ones_drawn(self) -> None:
        case = flags_of(pa.table({"x": np.arange(5000.0)}), list(range(300)))
        picture = view(case, Marks.of(case)).panels[0][1]
        assert picture.count('class="ring"') == 300
        assert len(picture) < 400_000

    def test_a_regression_of_many_features_says_where_values_should_go(self) -> None:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 4))
        y = X @ [1.0, 2.0, 0.0, 0.0]
        y[:5] += 8
        problem = duti.Problem(X, y, X[:8], X[:8] @ [1.0, 2.0, 0.0, 0.0])
        found = duti.Duti(duti.Ridge(ridge=1e-2), budget=5).rank(problem)
        rows = pa.table({"x": X[:, 0], "label": y})
        case = cases.case_of(problem, found, rows, rows.slice(0, 8))
        legend = [text for _, text in view(case, Marks.of(case)).legend]
        assert "flagged: candidate lower" in legend
        assert html(case)

    def test_one_feature_and_classes(self) -> None:
        X, y = np.arange(8.0)[:, None], np.array(list("aaabbbbb"))
        case = problem_without_items(X, y)
        picture = view(case, Marks.of(case)).panels[0][1]
        assert picture.count('class="curve') == 2
        assert ">a</text>" in picture

    def test_a_path_falls_to_the_right_and_ends_at_zero(self, students: Case) -> None:
        learner = duti.KernelLogistic(0.5, 2e-3)
        found = duti.Duti(learner, budget=100).rank(students.problem)
        picture = str(path_chart(cases.case_of(students.problem, found, students.rows, students.trusted)))
        words = re.findall(r'<text x="([\d.]+)" y="17\d"[^>]*>([^<]+)</text>', picture)
        prices = [float(word) for _, word in words]
        assert prices == sorted(prices, reverse=True)
        assert [float(x) for x, _ in words] == sorted(float(x) for x, _ in words)

    def test_no_path_is_said(self) -> None:
        case = flags_of(pa.table({"x": np.arange(40.0)}), [1])
        assert path_chart(case) is None
        assert "without a path" in html(case)

    def test_a_projection_of_sparse_rows_is_that_of_dense_rows(self) -> None:
        from scipy.sparse import csr_array

        X = np.random.default_rng(0).poisson(0.3, (80, 12)).astype(float)
        dense, sparse = projection(X, X[:3]), projection(csr_array(X), csr_array(X[:3]))
        signs = np.sign((dense[0] * sparse[0]).sum(axis=0))
        np.testing.assert_allclose(dense[0], signs * sparse[0], atol=1e-8)
        np.testing.assert_allclose(dense[1], dense[0][:3], atol=1e-8)
        centred = X - X.mean(axis=0)
        values = np.linalg.svd(centred, compute_uv=False) ** 2
        assert dense[2] == pytest.approx(values[:2].sum() / values.sum())

    def test_a_table_of_categories_only_is_projected(self) -> None:
        """The columns of a one-hot code sum to one, exactly so where every category is as frequent."""
        code = np.eye(4)
        X = np.hstack([code[np.arange(64) % 4], code[np.arange(64) // 16]])
        xy, others, share = projection(X, X[:3])
        assert np.isfinite(xy).all()
        np.testing.assert_allclose(others, xy[:3])
        assert 0 < share < 1

    @pytest.mark.parametrize("value", [0.0, 7.0, 1e200])
    def test_rows_that_are_all_the_same_are_one_point(self, value: float) -> None:
        xy, others, share = projection(np.full((40, 6), value), np.ones((2, 6)))
        assert not xy.any()
        assert not others.any()
        assert share == 1

    def test_very_large_numbers_are_projected(self) -> None:
        X = 1e200 * np.random.default_rng(0).normal(size=(40, 6))
        xy, _, share = projection(X, X[:2])
        assert np.isfinite(xy).all()
        assert 0.3 < share < 1

    @pytest.mark.parametrize("chart", ["view", "bias", "path_chart"])
    def test_a_chart_that_cannot_be_drawn_costs_nothing_else(
        self, chart: str, students: Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object) -> None:
            raise MemoryError

        whole = html(students)
        monkeypatch.setattr(f"duti.report.page.{chart}", broken)
        page = html(students)
        assert page.count("This chart could not be drawn (MemoryError).") == 1
        assert "could not be drawn" not in whole
        assert page.count('<section class="card') == whole.count('<section class="card')

    @pytest.mark.parametrize("features", [1, 2, 5])
    def test_a_row_that_is_far_out_does_not_squeeze_the_others(self, features: int) -> None:
        rng = np.random.default_rng(0)
        X, X_trusted = rng.normal(size=(60, features)), rng.normal(size=(8, features))
        y, y_trusted = (np.where(some[:, 0] > 0, "a", "b") for some in (X, X_trusted))
        X[7] = 1e6
        problem = duti.Problem(X, y, X_trusted, y_trusted)
        learner = duti.KernelLogistic(bandwidth=1.0, ridge=0.01)
        found = duti.Duti(learner, budget=3).rank(problem)
        rows = pa.table({f"x{j}": X[:, j] for j in range(features)}).append_column("label", pa.array(y))
        case = cases.case_of(problem, found, rows, rows.slice(0, 8))
        seen = view(case, Marks.of(case))
        assert "1 row is too far out and drawn at the edge." in seen.remark

    def test_all_classes_are_within_the_picture(self) -> None:
        scale = Scale.of(np.array([0.0] * 99 + [4.0]), 0, 100)
        assert scale.high >= 4  # nine tenths are the same: nothing is too far out

    def test_a_scale_of_equal_values_has_room(self) -> None:
        assert Scale.of(np.array([3.0, 3.0]), 0, 100).at(3.0) == 50


class TestThumbnails:
    def test_are_small(self, tmp_path: Path) -> None:
        Image.new("RGB", (1200, 900), "red").save(tmp_path / "a.jpg")
        address = thumbnail("a.jpg", tmp_path)
        assert address is not None
        assert address.startswith("data:image/png;base64,")
        assert len(address) < 2000

    @pytest.mark.parametrize(
        "content", [b"", b"<svg onload=alert(1)>", b"%!PS-Adobe-3.0 EPSF-3.0", b"GIF89a\xff\xff"]
    )
    def test_of_what_is_no_image_are_left_out(self, content: bytes, tmp_path: Path) -> None:
        (tmp_path / "a.png").write_bytes(content)
        assert thumbnail("a.png", tmp_path) is None

    @pytest.mark.parametrize("cell", [None, 3, "", "\0", "https://example.org/a.png", "javascript:alert(1)"])
    def test_of_other_cells_are_left_out(self, cell: object, tmp_path: Path) -> None:
        assert thumbnail(cell, tmp_path) is None


def test_the_same_run_gives_the_same_page(students: Case) -> None:
    assert html(students) == html(students)
