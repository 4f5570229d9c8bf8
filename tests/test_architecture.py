"""The folder tree is the architecture: data flows one way, and so do imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import duti

PACKAGE = Path(duti.__file__).parent
# inputs → problem → features → learner → objective → solver → path → findings → everything that uses them
ORDER = [
    "errors",
    "arrays",
    "randomness",
    "progress",
    "memory",
    "files",
    "journal",
    "encode",
    "problem",
    "features",
    "learners",
    "tune",
    "relabelling",
    "objective",
    "resources",
    "solvers",
    "path",
    "ranking",
    "claims",
    "storage",
    "findings",
    "automatic",
    "detector",
    "reasons",
    "baselines",
    "estimators",
    "metrics",
    "report",
    "runs",
    "datasets",
    "experiments",
    "demo",
    "cli",
    "__main__",
]


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """Parts of duti that a module imports, wherever in the module the import stands."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "duti":
            parts |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("duti."):
            parts.add(str(node.module).split(".")[1])
    return parts


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    here = ORDER.index(part_of(path))
    backwards = {part for part in imported_parts(path) if ORDER.index(part) > here}
    assert not backwards, f"{path.name} imports {backwards}, which come later in the flow"


def test_every_module_has_its_place() -> None:
    assert {part_of(path) for path in MODULES} == set(ORDER)


def test_public_names_are_sorted_and_exist() -> None:
    assert duti.__all__ == sorted(duti.__all__)
    assert all(getattr(duti, name).__doc__ for name in duti.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'manager'"):
        _ = duti.manager


def test_import_is_light() -> None:
    heavy = "{'sklearn', 'pandas', 'matplotlib', 'pyarrow', 'rich', 'scipy'}"
    code = f"import sys, duti; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_fixed_hyperparameters_need_no_scikit_learn_beyond_reading_the_task() -> None:
    code = (
        "import sys, duti\n"
        "learner = duti.KernelLogistic(0.3, 0.01)\n"
        "duti.debug([[0.0], [0.1], [1.0]], ['a', 'b', 'b'], [[0.1]], ['a'], learner=learner)\n"
        "print('sklearn' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
