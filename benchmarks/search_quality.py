"""What search finds, for `benchmarks.search`: rank order, recall, typing errors, codes, Korean."""

from __future__ import annotations

import hashlib
import json
import random
import statistics
import string
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pypdfium2 as pdfium

from rag_pipeline.analysis import analyze, name_lexemes, query_weights, to_search_vectors
from rag_pipeline.search import Searcher
from rag_pipeline.search.legs.corrections import correct, one_edit_away
from rag_pipeline.search.legs.text_leg import text_leg
from rag_pipeline.settings import ClauseWeights, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import ensure_space
from rag_pipeline.store.landing import Landing, land
from rag_pipeline.store.named_queries import queries
from rag_pipeline.store.source_tables import SourceFile, apply_changes, name_sources
from rag_pipeline.store.statistics import refresh_statistics
from rag_pipeline.text import clean_text, detect_language

SEED = 8
WORDS_ONLY = ClauseWeights(title=0, phrase=0, fuzzy=0, file_name=0)
PAGES_PER_DOCUMENT = 100


def land_texts(
    database: Database, name: str, texts: Sequence[str], language: str, dimensions: int = 4
) -> None:
    """Land texts as the chunks of one document; its vectors are all alike."""
    source_hash = hashlib.sha256(name.encode()).hexdigest()
    vectors, counts = to_search_vectors(texts, language)
    frame = pd.DataFrame(
        {
            "chunk_index": range(len(texts)),
            "parent_index": None,
            "kind": "text",
            "breadcrumb_trail": "",
            "content": texts,
            "context": None,
            "token_count": 1,
            "page_start": 1,
            "page_end": 1,
            "regions": [[] for _ in texts],
            "content_hash": [hashlib.sha256(text.encode()).hexdigest() for text in texts],
            "metadata": [{} for _ in texts],
        }
    )
    embeddings = np.ones((len(texts), dimensions), dtype=np.float32) / np.sqrt(dimensions)
    with database.connection() as connection:
        space = ensure_space(connection, "generated", "alike", dimensions, "1")
        apply_changes(connection, [SourceFile(f"/b/{name}.pdf", "/b", source_hash, 1, 1)], [])
        name_sources(connection, name_lexemes)
        landing = Landing(
            source_hash=source_hash,
            title=name,
            page_count=1,
            language=language,
            warnings=[],
            fingerprints={},
            chunks=frame,
            search_vectors=vectors,
            lexeme_counts=counts,
            embeddings=embeddings,
        )
        land(connection, space.space_id, landing)


def read_pages(folder: Path) -> list[tuple[str, str]]:
    """Return (language, text) of every page of a set, whatever form it comes in."""
    found: list[tuple[str, str]] = []
    for path in sorted((folder / "corpus").iterdir()):
        if path.suffix == ".pdf":
            with pdfium.PdfDocument(path) as document:
                texts = [page.get_textpage().get_text_range() for page in document]
        elif path.suffix == ".json":
            texts = [page["text"] for page in json.loads(path.read_text(encoding="utf-8"))]
        else:
            words = path.read_text(encoding="utf-8").split()
            texts = [" ".join(words[i : i + 200]) for i in range(0, len(words), 200)]
        texts = [clean_text(text) for text in texts]
        language = detect_language(" ".join(texts[:20]))
        found += [(language, text) for text in texts if text.strip()]
    return found


def read_questions(folder: Path) -> list[str]:
    """Return a set's questions."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines]


def land_pages(database: Database, name: str, pages: Sequence[tuple[str, str]]) -> list[str]:
    """Land pages by language; return their texts in the order of the chunk ids."""
    ordered: list[str] = []
    for language in sorted({language for language, _ in pages}):
        texts = [text for one, text in pages if one == language]
        for start in range(0, len(texts), PAGES_PER_DOCUMENT):
            part = texts[start : start + PAGES_PER_DOCUMENT]
            land_texts(database, f"{name}-{language}-{start}", part, language)
            ordered += part
    with database.connection() as connection:
        refresh_statistics(connection)
    return ordered


def overlap_with_bm25s(
    database: Database, pages: Sequence[tuple[str, str]], questions: Sequence[str]
) -> float:
    """Return the mean share of the ten best pages that exact BM25 (bm25s) has too.

    Both have the same lexemes with the same weights, and BM25 in Lucene's form with k1 1.2, b .75.
    Where ours has fewer than ten, the share is of as many.
    """
    import bm25s  # type: ignore[import-untyped]

    languages = sorted({language for language, _ in pages})
    by_language = [page for one in languages for page in pages if page[0] == one]
    reference = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    tokens = [[lexeme for lexeme, _ in analyze(text, one)] for one, text in by_language]
    reference.index(tokens, show_progress=False)
    shares = []
    with database.connection() as connection:
        row = connection.execute("SELECT min(chunk_id) FROM chunk").fetchone()
        first = row[0] if row else 0
        for question in questions:
            scores = np.zeros(len(by_language))
            for lexeme, weight in query_weights(question, languages).items():
                if lexeme in reference.vocab_dict:
                    scores += weight * reference.get_scores([lexeme])
            hits = text_leg(connection, question, 10, clauses=WORDS_ONLY).hits
            ours = {hit.chunk_id - first for hit in hits}
            best = np.argsort(-scores, kind="stable")[: len(ours)]
            if ours:
                shares.append(len(ours.intersection(best.tolist())) / len(ours))
    return statistics.mean(shares)


def corrected_typos(database: Database, texts: Sequence[str], count: int) -> float:
    """Return the share of typing errors whose word is among the first three corrections.

    Words of four letters or more that the corpus has at least twice, each with one random edit that
    makes no other word of the corpus.
    """
    generator = random.Random(SEED)
    frequencies = Counter(word for text in texts for word, _ in analyze(text, "und"))
    words = sorted(w for w, n in frequencies.items() if n > 1 and len(w) > 3 and w.isascii())
    words = [word for word in words if word.isalpha()]
    found = total = 0
    with database.connection() as connection:
        languages = [language for (language,) in queries.corpus_languages(connection)]
        known = {row[0] for row in connection.execute("SELECT lexeme FROM lexeme")}
        while total < count:
            word = generator.choice(words)
            typed = generator.choice(sorted(one_edit_away(word)))
            if len(typed) < 4 or typed in known or not typed.isalpha():
                continue
            if any(form in known for form in query_weights(typed, languages)):
                continue
            corrections = correct(connection, typed, languages, {})
            total += 1
            found += word in [one.found for one in corrections][:3]
    return found / total


def part_numbers(count: int) -> list[str]:
    """Return different part numbers of several makes."""
    generator = random.Random(SEED)

    def code() -> str:
        def letters(n: int) -> str:
            return "".join(generator.choices(string.ascii_uppercase, k=n))

        def digits(n: int) -> str:
            return "".join(generator.choices(string.digits, k=n))

        return generator.choice(
            [
                f"{letters(2)}-{digits(4)}{letters(2)}-{letters(1)}{digits(1)}/{digits(1)}{letters(1)}",
                f"{letters(2)}{digits(5)}",
                f"{letters(3)}-{digits(3)}-{digits(4)}",
                f"{digits(4)}-{letters(2)}{digits(3)}",
                f"{letters(1)}{digits(4)}.{digits(3)}",
            ]
        )

    found: dict[str, None] = {}
    while len(found) < count:
        found[code()] = None
    return list(found)


def found_codes(database: Database, count: int = 200) -> dict[str, float]:
    """Return the share of part numbers in the first five by prefix, segment and wrong character.

    Landed among 2,000 other chunks with part numbers of the same makes.
    """
    generator = random.Random(SEED)
    codes = part_numbers(2_000 + count)
    texts = [
        f"Order number {code}: seal kit for the {i} series pump." for i, code in enumerate(codes)
    ]
    for start in range(0, len(texts), 200):
        land_texts(database, f"codes-{start}", texts[start : start + 200], "en")
    with database.connection() as connection:
        refresh_statistics(connection)
    wanted = generator.sample(codes, count)
    kinds = {"prefix": _prefix, "segment": _segment, "wrong character": _wrong_character}
    shares = {}
    with database.connection() as connection:
        contents = dict(connection.execute("SELECT chunk_id, content FROM chunk").fetchall())
        for name, make in kinds.items():
            found = 0
            for code in wanted:
                query = make(code, generator, codes)
                hits = text_leg(connection, query, 5).hits
                found += any(f" {code}:" in contents[hit.chunk_id] for hit in hits)
            shares[name] = found / count
    return shares


def _prefix(code: str, generator: random.Random, codes: Sequence[str]) -> str:
    """Cut off the end, as far as at most five codes begin so."""
    lengths = [n for n in range(4, len(code)) if sum(c.startswith(code[:n]) for c in codes) <= 5]
    return code[: generator.choice(lengths or [len(code) - 1])].rstrip("-/.")


def _segment(code: str, generator: random.Random, codes: Sequence[str]) -> str:
    """Take a segment that at most five codes have."""
    segments = code.replace("/", "-").replace(".", "-").split("-")

    def holders(segment: str) -> int:
        return sum(segment in c.replace("/", "-").replace(".", "-").split("-") for c in codes)

    rare = [segment for segment in segments if len(segment) > 2 and holders(segment) <= 5]
    return generator.choice(rare or [code])


def _wrong_character(code: str, generator: random.Random, codes: Sequence[str]) -> str:
    while True:
        place = generator.choice([i for i, one in enumerate(code) if one.isalnum()])
        pool = string.digits if code[place].isdigit() else string.ascii_uppercase
        wrong = code[:place] + generator.choice(pool) + code[place + 1 :]
        if wrong not in codes:
            return wrong


NOUNS = ("번역", "필터", "압축기", "윤활유", "밸브", "설명서", "전원", "온도", "물", "오류")
_AFTER_CONSONANT = ("을", "이", "은", "과", "으로")
_AFTER_VOWEL = ("를", "가", "는", "와", "로")


def particle_pairs() -> list[tuple[str, str]]:
    """Return fifty pairs of a noun and the same with a particle."""
    pairs = []
    for noun in NOUNS:
        ends_open = (ord(noun[-1]) - 0xAC00) % 28 == 0
        pairs += [(noun, noun + one) for one in (_AFTER_VOWEL if ends_open else _AFTER_CONSONANT)]
    return pairs


def found_particles(database: Database) -> tuple[int, int]:
    """Return how many of the pairs are found both ways as the first result, and of how many."""
    pairs = particle_pairs()
    around = ["작업 전에 반드시 확인하십시오.", "다음 절차를 따르십시오."]
    found = 0
    for pair in pairs:
        ways = 0
        for document, query in (pair, pair[::-1]):
            text = f"새 {document} 확인"
            land_texts(database, "particles", [around[0], text, around[1]], "ko")
            with database.connection() as connection:
                hits = text_leg(connection, query, 3).hits
                row = connection.execute(
                    "SELECT chunk_id FROM chunk WHERE content = %s", (text,)
                ).fetchone()
            ways += bool(hits and row and hits[0].chunk_id == row[0])
        found += ways == 2
    return found, len(pairs)


def search_while_writing(
    database: Database, settings: Settings, texts: Sequence[str], chunks: int, threads: int = 20
) -> dict[str, float]:
    """Search from many threads while documents land; return errors, searches and p95 in ms."""
    searcher = Searcher(database, settings)
    seconds: list[float] = []
    errors: list[str] = []
    done = False

    def ask(seed: int) -> None:
        generator = random.Random(seed)
        while not done:
            words = generator.choice(texts).split()
            query = " ".join(generator.sample(words, min(3, len(words))))
            start = time.perf_counter()
            try:
                searcher.search(query, weights={"text": 1.0, "vector": 0.0})
            except Exception as error:  # whatever it is, it is what is counted here
                errors.append(repr(error))
            seconds.append(time.perf_counter() - start)

    generator = random.Random(SEED)
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(ask, seed) for seed in range(threads)]
        for start in range(0, chunks, PAGES_PER_DOCUMENT):
            # Every third document replaces one that is there.
            name = f"written-{start if start % 300 else 0}"
            land_texts(database, name, generator.choices(texts, k=PAGES_PER_DOCUMENT), "en")
        done = True
        for future in futures:
            future.result()
    return {
        "errors": float(len(errors)),
        "searches": float(len(seconds)),
        "p95_ms": 1000 * statistics.quantiles(seconds, n=20)[-1],
    }
