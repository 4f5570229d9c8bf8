"""The recipe is simple enough to explain: few numbers were set by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import duti.automatic

MOST = 25
FITTED = "fitted.py"
"""Weights that a regression found (`benchmarks/fitting`), none by hand."""
PLAIN = {-1, 0, 1, 2}
FOLDER = Path(duti.automatic.__file__).parent


def numbers(node: ast.AST) -> Iterator[ast.Constant]:
    """All numeric literals; docstrings are none."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and type(part.value) in (int, float, complex):
            yield part


def names(statement: ast.stmt) -> list[str]:
    """What an assignment calls its values: each name of several counts."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def hand_set(source: str) -> Iterator[str]:
    """Names of a module whose value has a literal in it, a grid being one; and literals within functions."""
    for statement in ast.parse(source).body:
        named = [name for name in names(statement) if name.isupper()]
        if named:
            unusual = any(number.value not in PLAIN for number in numbers(statement))
            yield from (name for name in named if unusual)
        else:
            for number in numbers(statement):
                if number.value not in PLAIN:
                    yield f"{number.value!r} in line {number.lineno}"


def test_a_grid_counts_as_one_names_and_unusual_literals_one_each() -> None:
    source = '''
"""Not 99."""
GRID = (0.1, 0.2)
CALLED = f(3)
ONE, OTHER = 5, 7
ELSEWHERE = imported
def f(x=0.5):
    """Not 98."""
    return -1 * x + 2.0 - 17 * x[0]
'''
    assert list(hand_set(source)) == ["GRID", "CALLED", "ONE", "OTHER", "0.5 in line 7", "17 in line 9"]


def test_few_numbers_are_set_by_hand() -> None:
    found = [
        f"{file.name}: {one}"
        for file in sorted(FOLDER.glob("*.py"))
        if file.name != FITTED
        for one in hand_set(file.read_text())
    ]
    listing = "\n".join(found)
    assert len(found) <= MOST, f"{len(found)} numbers are set by hand:\n{listing}"
