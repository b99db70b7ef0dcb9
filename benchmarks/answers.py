"""Answers without a model, and "not in the documents": `rag ask` as it is without keys.

    python -m benchmarks.answers [--quick] [--json] [--only SET]

On the samples: whether the first result is from a gold section, and of the sentences quoted as an
answer the known facts they say, the foreign and the cut ones; how many negative questions are
recognised, and how many of the others are taken for negative (docs/evaluation.md, "Without a
model").

On pairs of sets: the questions of one set are asked of another set's documents, which answer none
of them, in a language that these documents have; the set's own questions are those that they do
answer. Given are the share that was told "not in the documents" (of the own questions: the false
alarms), precision and recall, and how well the first result's relevance tells the two apart (AUC).
A question that names no product may be answered elsewhere by chance. The search alone is asked;
with `--answers` the quoted answer too, which takes about a second a question.

At last, set by set, the same with a threshold of the first result's relevance that was chosen on
pairs of other sets alone: the one that lets .05 of the answerable questions there be lost.

The sets are those of `benchmarks.retrieval`, in the same stores. `--quick` asks the samples only;
`--only`, which may be given more than once, the documents of some sets.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common import PROJECT_DIR, bench_data, print_report
from benchmarks.retrieval import corpus_folder, knowledge_base
from rag_pipeline.answering import Answerer
from rag_pipeline.evaluation import KnownQuestion, current_settings, evaluate, read_questions
from rag_pipeline.evaluation.answer_measures import count
from rag_pipeline.search import Searcher
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database

SETS = ("samples", "debian_guide", "manuals_dev", "autorag_ko_dev")
PER_PAIR = 30
SEED = 20
LOST = 0.05
"""Share of the answerable questions that the chosen threshold loses on the other sets."""
COLUMNS = ["documents", "questions or measure", "n", "share", "precision", "recall", "AUC"]

Rows = list[list[object]]
Figures = dict[str, object]


@dataclass(frozen=True)
class Verdict:
    """What the documents of one set told a question of the same set, or of another."""

    documents: str
    questions: str
    said_not_found: bool
    relevance: float
    """Of the first result; 0 without one."""

    @property
    def is_negative(self) -> bool:
        """Whether the question is of another set."""
        return self.documents != self.questions


def main() -> None:
    """Ask every set the samples' questions or the pairs'; print one table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the samples only")
    parser.add_argument("--json", action="store_true", help="figures by name, as JSON")
    parser.add_argument("--only", choices=SETS, action="append", help="the documents of one set")
    parser.add_argument("--answers", action="store_true", help="quoted answers of the pairs too")
    options = parser.parse_args()
    folders = {"samples": PROJECT_DIR / "samples"}
    if not options.quick:
        folders |= {name: bench_data() / name for name in SETS[1:]}
    questions = {name: read_questions(path / "questions.jsonl") for name, path in folders.items()}
    rows: Rows = []
    figures: Figures = {}
    verdicts: list[Verdict] = []
    for name in options.only or folders:
        project_dir = PROJECT_DIR / ".rag" / "benchmarks" / name
        with knowledge_base(project_dir, corpus_folder(folders[name], project_dir)) as (
            searcher,
            _,
        ):
            settings = Settings.load(project_dir)
            database = Database.open(settings)
            try:
                if name == "samples":
                    _samples(database, settings, questions[name], rows, figures)
                if len(questions) > 1:
                    answerer = Answerer(database, settings, searcher) if options.answers else None
                    verdicts += ask_pairs(searcher, answerer, name, questions)
            finally:
                database.close()
    _pairs(verdicts, rows, figures)
    _left_out(verdicts, rows, figures)
    print_report("Answers without a model", COLUMNS, rows, figures, options.json)


def _samples(
    database: Database,
    settings: Settings,
    questions: Sequence[KnownQuestion],
    rows: Rows,
    figures: Figures,
) -> None:
    (found,) = evaluate(database, questions, [current_settings(settings)], answers=True)
    negatives = sum(question.is_negative for question in questions)
    for name, share in found.without_model.items():
        number = negatives if name == "negatives recognised" else len(questions) - negatives
        rows.append(["samples", name, number, share, "", "", ""])
        figures[f"samples.{name}"] = share


def ask_pairs(
    searcher: Searcher,
    answerer: Answerer | None,
    documents: str,
    questions: dict[str, list[KnownQuestion]],
) -> Iterator[Verdict]:
    """Yield what a set's documents tell a sample of every set's questions in their languages."""
    languages = {_language(question) for question in questions[documents]}
    for asker, known in questions.items():
        fitting = [q for q in known if not q.is_negative and _language(q) in languages]
        chosen = random.Random(SEED).sample(fitting, min(PER_PAIR, len(fitting)))
        for question in chosen:
            response = searcher.search(question.text)
            answer = answerer.answer_from(question.text, response) if answerer else None
            told = count(question, response, answer)
            first = response.results[0].relevance if response.results else 0.0
            yield Verdict(documents, asker, told.said_not_found, first)


def _language(question: KnownQuestion) -> str:
    """Return the language by its script: a short question may have no words that tell it."""
    return "ko" if question.language == "ko" else "en"


def _pairs(verdicts: Sequence[Verdict], rows: Rows, figures: Figures) -> None:
    pairs = dict.fromkeys((one.documents, one.questions) for one in verdicts)
    for documents, asker in pairs:
        own = [v for v in verdicts if v.documents == v.questions == documents]
        asked = [v for v in verdicts if (v.documents, v.questions) == (documents, asker)]
        share = _share(asked)
        row: list[object] = [documents, asker, len(asked), share, "", "", ""]
        name = f"{documents}.{asker}"
        figures[f"{name}.said_not_found"] = share
        if asker != documents:
            said = [v.said_not_found for v in asked]
            precision, recall = rates(said, [v.said_not_found for v in own])
            row[-3:] = [precision, recall, area(asked, own)]
            figures |= {f"{name}.precision": precision, f"{name}.recall": recall}
        rows.append(row)


def _left_out(verdicts: Sequence[Verdict], rows: Rows, figures: Figures) -> None:
    """Add a row for every set with the threshold that the other sets' pairs choose."""
    for name in dict.fromkeys(one.documents for one in verdicts):
        others = [v for v in verdicts if name not in (v.documents, v.questions)]
        answerable = [v.relevance for v in others if not v.is_negative]
        if not answerable:
            continue
        threshold = float(np.quantile(answerable, LOST))
        asked = [v for v in verdicts if v.documents == name]
        negative = [v.relevance < threshold for v in asked if v.is_negative]
        own = [v.relevance < threshold for v in asked if not v.is_negative]
        precision, recall = rates(negative, own)
        label = f"relevance below {threshold:.3f}, chosen on other sets"
        rows.append([name, label, len(asked), sum(own) / len(own), precision, recall, ""])
        figures |= {
            f"{name}.left_out.false_alarms": sum(own) / len(own),
            f"{name}.left_out.precision": precision,
            f"{name}.left_out.recall": recall,
        }


def _share(verdicts: Sequence[Verdict]) -> float:
    return sum(one.said_not_found for one in verdicts) / len(verdicts)


def rates(negative: Sequence[bool], answerable: Sequence[bool]) -> tuple[float, float]:
    """Return precision and recall of "not in the documents", both kinds weighing the same.

    >>> rates([True, True, False, False], [True, False])
    (0.5, 0.5)
    """
    recall = sum(negative) / len(negative)
    lost = sum(answerable) / len(answerable)
    return (recall / (recall + lost) if recall + lost else 0.0), recall


def area(negative: Sequence[Verdict], answerable: Sequence[Verdict]) -> float:
    """Return how often an answerable question's relevance is above a negative one's (AUC)."""
    low = np.array([one.relevance for one in negative])
    high = np.array([one.relevance for one in answerable])[:, None]
    return float(np.mean((high > low) + 0.5 * (high == low)))


if __name__ == "__main__":
    main()
