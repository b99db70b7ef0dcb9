"""Do the weights of the search hold on documents that they were not chosen on?

    python -m benchmarks.retrieval_folds [--quick] [--json]

The sets are those of `benchmarks.retrieval`, in the same stores. Each setting is tried at other
values, one after the other, and the value with the best mean MRR over the rows (a set's questions
of a kind) is kept. That is done once over all sets, and once for each set over all the others:
the held-out set is then asked with weights that know nothing of it. Given are the default
weights' figures, those chosen without the set, and those chosen with all. `--quick` takes a
quarter of the questions.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from benchmarks.retrieval import (
    Question,
    corpus_folder,
    knowledge_base,
    ranked_pages,
    read_questions,
    sets,
)
from rag_pipeline.search import Filters, Searcher
from rag_pipeline.settings import Settings

VALUES: dict[str, tuple[float, ...]] = {
    "weights.text": (0.5, 0.6, 0.7, 0.8, 0.9),
    "clauses.closeness": (0.0, 1.0, 2.0, 4.0),
    "clauses.title": (0.0, 2.0, 4.0, 8.0),
    "clauses.phrase": (0.0, 2.0, 4.0),
    "clauses.file_name": (0.0, 2.0, 4.0, 8.0),
    "clauses.fuzzy": (0.0, 1.5, 3.0),
    "feedback": (0.0, 1.0, 2.0),
}
"""The settings below `search` and the values tried for each."""
MOST_QUESTIONS = 120
"""Questions of a kind; of more, every second, third … is asked."""
COLUMNS = ["set", "questions", "n", "default", "chosen without the set", "chosen with all"]

Choice = Mapping[str, float]
Figures = tuple[float, float]
"""Recall@5 and MRR."""


@dataclass
class OpenSet:
    """A set's store and questions, with the figures already measured."""

    name: str
    searcher: Searcher
    kinds: Mapping[str, Sequence[Question]]
    measured: dict[tuple[tuple[str, float], ...], dict[str, Figures]] = field(default_factory=dict)

    def figures(self, choice: Choice) -> dict[str, Figures]:
        """Return recall@5 and MRR by kind of question with these weights."""
        key = tuple(sorted(choice.items()))
        if key not in self.measured:
            changed = self.searcher.with_settings(_chosen(choice))
            self.measured[key] = {
                kind: _figures(changed, questions) for kind, questions in self.kinds.items()
            }
        return self.measured[key]


def main() -> None:
    """Open every set, choose over all and without each, print one table."""
    options = arguments(__doc__)
    rows: list[list[object]] = []
    figures: dict[str, object] = {}
    with ExitStack() as stack:
        opened = list(_open(stack, 4 if options.quick else 1))
        default = {name: float(_default(name)) for name in VALUES}
        with_all = choose(opened, default)
        figures["chosen with all"] = _told(with_all, default)
        for one in opened:
            without = choose([other for other in opened if other is not one], default)
            figures[f"chosen without {one.name}"] = _told(without, default)
            by_choice = [one.figures(choice) for choice in (default, without, with_all)]
            for kind, questions in one.kinds.items():
                told = [f"{recall:.3f} / {mrr:.3f}" for recall, mrr in (f[kind] for f in by_choice)]
                rows.append([one.name, kind, len(questions), *told])
                figures[f"{one.name}.{kind}"] = told
    print_report(
        "Weights on sets that they were not chosen on", COLUMNS, rows, figures, options.json
    )
    if not options.json:
        for name, value in figures.items():
            if name.startswith("chosen"):
                print(f"{name}: {value}")


def choose(opened: Sequence[OpenSet], default: Choice) -> dict[str, float]:
    """Return the values with the best mean MRR over all rows, found one setting after the other.

    A value other than the default must be better, not as good.
    """
    chosen = dict(default)
    best = _mean(opened, chosen)
    for name, values in VALUES.items():
        for value in values:
            tried = {**chosen, name: value}
            mean = _mean(opened, tried)
            if mean > best + 1e-9:
                chosen, best = tried, mean
    return chosen


def _mean(opened: Sequence[OpenSet], choice: Choice) -> float:
    return statistics.mean(mrr for one in opened for _, mrr in one.figures(choice).values())


def _open(stack: ExitStack, step: int) -> Iterator[OpenSet]:
    folders = {"samples": PROJECT_DIR / "samples"}
    folders |= {folder.name: folder for folder in sets(bench_data())}
    for name, folder in folders.items():
        project_dir = PROJECT_DIR / ".rag" / "benchmarks" / name
        corpus = corpus_folder(folder, project_dir)
        searcher, _ = stack.enter_context(knowledge_base(project_dir, corpus))
        kinds: dict[str, list[Question]] = {}
        for question in read_questions(folder, corpus):
            kinds.setdefault(question.kind, []).append(question)
        yield OpenSet(
            name,
            searcher,
            {
                kind: questions[:: step * max(1, len(questions) // MOST_QUESTIONS)]
                for kind, questions in kinds.items()
            },
        )


def _figures(searcher: Searcher, questions: Sequence[Question]) -> Figures:
    found, reciprocal = [], []
    for question in questions:
        names = [name + end for name in question.documents for end in (".pdf", ".txt")]
        filters = Filters(documents=names) if names else Filters()
        pages = ranked_pages(searcher.search(question.text, limit=30, filters=filters))
        rank = next((i for i, page in enumerate(pages, 1) if page in question.pages), None)
        found.append(rank is not None and rank <= 5)
        reciprocal.append(1 / rank if rank else 0.0)
    return statistics.mean(found), statistics.mean(reciprocal)


def _default(name: str) -> object:
    value: object = Settings().search
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _chosen(choice: Choice) -> Settings:
    """Return settings with these weights; meaning has what text leaves."""
    search: dict[str, object] = {"feedback": choice["feedback"]}
    clauses = {k.partition(".")[2]: v for k, v in choice.items() if k.startswith("clauses.")}
    text = choice["weights.text"]
    search |= {"clauses": clauses, "weights": {"text": text, "vector": 1 - text}}
    return Settings.model_validate({"search": search})


def _told(choice: Choice, default: Choice) -> str:
    changed = [f"{name} {value:g}" for name, value in choice.items() if value != default[name]]
    return ", ".join(changed) or "the defaults"


if __name__ == "__main__":
    main()
