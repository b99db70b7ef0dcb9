"""Grammars of programming languages (tree-sitter), and the definitions in a text."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_LANGUAGES = frozenset("bash c cpp csharp go java javascript python rust typescript".split())
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
"""Ends of the types of nodes that define a name: `class_definition`, `struct_specifier`."""
_NO_DEFINITIONS = ("parameter", "field", "variable", "import")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or the like: its place in the text, and its name after those around it."""

    start: int
    end: int
    path: tuple[str, ...]


def known_language(name: str) -> str | None:
    """Return this module's name of a language; None if there is no grammar for it.

    >>> known_language("C++"), known_language("cobol")
    ('cpp', None)
    """
    lower = name.strip().lower()
    lower = _ALIASES.get(lower, lower)
    return lower if lower in _LANGUAGES else None


@lru_cache
def grammar(language: str) -> Any:
    """Return the grammar of a known language, as `CodeSplitter` and `Language` take it."""
    name = "c_sharp" if language == "csharp" else language
    module = importlib.import_module(f"tree_sitter_{name}")
    return (module.language_typescript if language == "typescript" else module.language)()


def definitions(text: str, language: str) -> list[Definition]:
    """Return the named definitions of a text, outer before inner; of broken code, what is intact.

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
    """Return the name a node defines: its `name`, the type of an `impl`, or a declarator."""
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
