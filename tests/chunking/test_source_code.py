"""The code strategy on Python, JavaScript, Rust and a language without a grammar."""

from __future__ import annotations

import pandas as pd
import pytest

from rag_pipeline.chunking import chunk
from rag_pipeline.chunking.strategies.grammars import definitions, known_language
from rag_pipeline.settings import ChunkingSettings
from tests.chunking.documents import Writer, children, count_words


def method(name: str, words: int) -> str:
    body = "\n".join(f"        step_{i}()" for i in range(words))
    return f"    def {name}(self):\n{body}"


def chunked(language: str, regions: list[str], tokens: int, **settings: object) -> pd.DataFrame:
    writer = Writer()
    for region in regions:
        writer.add("code", region, kind="code")
    frame = writer.frame().assign(code_language=language)
    chosen = ChunkingSettings(**{"strategy": "code", "target_tokens": tokens, **settings})
    return children(chunk(frame, chosen, count_words, title="pump.py"))


def test_functions_within_the_budget_are_whole_and_fill_a_chunk() -> None:
    first, second, third = (
        f"def f{i}():\n" + "\n".join(f"    call_{n}()" for n in range(10)) for i in range(3)
    )
    # 12 words each; 36 of the budget hold two beside the title and what is kept for names
    chunks = chunked("python", [first, second, third], 36)
    assert chunks["content"].tolist() == [f"{first}\n{second}", third]
    assert chunks["breadcrumb_trail"].tolist() == ["pump.py", "pump.py > f2"]
    assert chunks["kind"].tolist() == ["code", "code"]


def test_a_class_above_the_budget_is_cut_between_its_methods_which_it_names() -> None:
    methods = [method(name, 20) for name in ("open", "close", "drain")]
    source = "class Pump:\n" + "\n\n".join(methods)
    other = "def after():\n    pass"
    chunks = chunked("python", [source, other], 40)
    assert chunks["content"].tolist() == [
        "class Pump:\n" + methods[0],
        methods[1],
        methods[2],
        other,
    ]
    assert chunks["breadcrumb_trail"].tolist() == [
        "pump.py > Pump",
        "pump.py > Pump > close",
        "pump.py > Pump > drain",
        "pump.py > after",
    ]


@pytest.mark.parametrize(
    ("language", "source", "paths"),
    [
        (
            "javascript",
            "class A { f() { return 1 } }\nfunction g() {}",
            [("A",), ("A", "f"), ("g",)],
        ),
        (
            "rust",
            "impl Pump { fn open(&self) {} }\nfn main() {}",
            [("Pump",), ("Pump", "open"), ("main",)],
        ),
        ("cpp", "class A { int f() { return 1; } };", [("A",), ("A", "f")]),
        ("go", "func Open(p Pump) int { return 1 }", [("Open",)]),
        ("java", "class A { void f() {} }", [("A",), ("A", "f")]),
        ("csharp", "class A { void F() {} }", [("A",), ("A", "F")]),
        ("typescript", "interface A { f(): number }\nfunction g(): void {}", [("A",), ("g",)]),
        ("bash", "drain() { echo done; }", [("drain",)]),
        ("python", "def 밸브():\n    '닫기'\n\ndef g(): pass", [("밸브",), ("g",)]),
    ],
)
def test_definitions(language: str, source: str, paths: list[tuple[str, ...]]) -> None:
    found = definitions(source, language)
    assert [item.path for item in found] == paths
    assert all(item.path[-1] in source[item.start : item.end] for item in found)


def test_a_language_without_a_grammar_is_cut_between_lines() -> None:
    lines = [f"MOVE {i} TO TOTAL." for i in range(20)]
    chunks = chunked("cobol", ["\n".join(lines)], 32)
    assert "\n".join(chunks["content"]) == "\n".join(lines)
    assert all(text.endswith("TOTAL.") for text in chunks["content"])


def test_contextual_takes_source_code_by_its_syntax() -> None:
    source = "class Pump:\n" + "\n\n".join(method(name, 20) for name in ("open", "close"))
    by_code = chunked("python", [source], 40)
    by_default = chunked("python", [source], 40, strategy="contextual")
    pd.testing.assert_frame_equal(by_code, by_default)


def test_names_of_languages() -> None:
    assert [known_language(name) for name in ("Python", "C#", "ts", "", "sql")] == [
        "python",
        "csharp",
        "typescript",
        None,
        None,
    ]
