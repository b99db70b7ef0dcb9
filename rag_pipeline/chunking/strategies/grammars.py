"""Grammars of programming languages (tree-sitter), and the definitions that code holds."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_GRAMMARS = {
    "bash": ("tree_sitter_bash", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "python": ("tree_sitter_python", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
_ALIASES = {
    "c#": "csharp",
    "c++": "cpp",
    "cs": "csharp",
    "golang": "go",
    "js": "javascript",
    "jsx": "javascript",
    "py": "python",
    "python3": "python",
    "rs": "rust",
    "sh": "bash",
    "shell": "bash",
    "ts": "typescript",
}
_DEFINITIONS = ("_definition", "_declaration", "_item", "_specifier")
"""How grammars call what defines a name: `class_definition`, `impl_item`, `struct_specifier`."""
_NO_DEFINITIONS = ("parameter", "field", "variable", "import")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or the like: its place in the text, and its name below those around it."""

    start: int
    end: int
    path: tuple[str, ...]


def known_language(name: str) -> str | None:
    """Return the language as it is called here; None where there is no grammar for it.

    >>> known_language("C++"), known_language("cobol")
    ('cpp', None)
    """
    lower = name.strip().lower()
    lower = _ALIASES.get(lower, lower)
    return lower if lower in _GRAMMARS else None


@lru_cache
def grammar(language: str) -> Any:
    """Return the grammar of a known language, as `CodeSplitter` and `Language` take it."""
    module, function = _GRAMMARS[language]
    return getattr(importlib.import_module(module), function)()


def definitions(text: str, language: str) -> list[Definition]:
    """Return the named definitions of a text, outer before inner. Broken code gives what is left.

    Offsets are in characters.
    """
    from tree_sitter import Language, Parser

    encoded = text.encode("utf-8")
    tree = Parser(Language(grammar(language))).parse(encoded)
    offsets = None if len(encoded) == len(text) else _character_offsets(text)
    found: list[Definition] = []
    pending: list[tuple[Any, tuple[str, ...]]] = [(tree.root_node, ())]
    while pending:
        node, path = pending.pop()
        if _defines(node.type) and (name := _name(node)):
            path = (*path, name)
            start, end = node.start_byte, node.end_byte
            if offsets:
                start, end = offsets[start], offsets[end]
            found.append(Definition(start, end, path))
        pending += [(child, path) for child in reversed(node.named_children)]
    return found


def _defines(kind: str) -> bool:
    return kind.endswith(_DEFINITIONS) and not any(word in kind for word in _NO_DEFINITIONS)


def _name(node: Any) -> str | None:
    """Return the name that a node defines: its `name`, the type of an `impl`, a declarator."""
    for field in ("name", "type", "declarator"):
        child = node.child_by_field_name(field)
        if field == "type" and node.type != "impl_item":
            continue
        while child is not None and field == "declarator":
            inner = child.child_by_field_name("declarator")
            if inner is None:
                break
            child = inner
        if child is not None and child.text and len(child.text) <= 80:
            return str(child.text.decode("utf-8", "replace"))
    return None


def _character_offsets(text: str) -> list[int]:
    """Return the character that each byte of the text in UTF-8 belongs to, and the end."""
    offsets: list[int] = []
    for number, character in enumerate(text):
        offsets += [number] * len(character.encode("utf-8"))
    return [*offsets, len(text)]
