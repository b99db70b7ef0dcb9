"""How many rules and thresholds structure has: fewer is better for the same figures.

    python -m benchmarks.structure_counts [PACKAGE_DIR]

A rule is a function that decides a role or a level. A threshold is a number in the code of
`structure/` other than 0, 1 and 2, or a setting of `StructureSettings`.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from benchmarks.common import PROJECT_DIR

NO_THRESHOLDS = (0, 1, 2)
DECIDED = ("role", "level", "list_level")


def main() -> None:
    """Print the counts of a package folder, by default this project's."""
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT_DIR / "rag_pipeline"
    trees = [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((package / "structure").rglob("*.py"))
    ]
    rules = sum(_decides(node) for tree in trees for node in ast.walk(tree))
    literals = sum(_is_threshold(node) for tree in trees for node in ast.walk(tree))
    settings = sum(
        len([one for one in node.body if isinstance(one, ast.AnnAssign)])
        for path in (package / "settings").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name == "StructureSettings"
    )
    print(f"rules {rules}, thresholds {literals + settings} ({literals} in code, {settings} set)")


def _decides(node: ast.AST) -> bool:
    """Is it a function that calls `decide`, or assigns a role or level?"""
    if not isinstance(node, ast.FunctionDef) or node.name == "decide":
        return False
    return any(
        (isinstance(one, ast.Attribute) and one.attr == "decide")
        or (
            isinstance(one, ast.Attribute)
            and isinstance(one.ctx, ast.Store)
            and one.attr in DECIDED
        )
        for one in ast.walk(node)
    )


def _is_threshold(node: ast.AST) -> bool:
    """Is it a number that someone chose?"""
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return False
    return isinstance(node.value, int | float) and node.value not in NO_THRESHOLDS


if __name__ == "__main__":
    main()
