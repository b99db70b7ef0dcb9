"""What a number is given for, what is counted, and what must not occur."""

from __future__ import annotations

from rag_pipeline.relational.questions.interpretation.amounts import single_column
from rag_pipeline.relational.questions.interpretation.question_state import SUPERLATIVES, Question
from rag_pipeline.relational.questions.lexicon import is_hangul
from rag_pipeline.relational.questions.mentions import Mention
from rag_pipeline.relational.schema.joins import NotComputableError


def find_group(question: Question) -> None:
    """Find what the number is given for each of: `which X`, `each X`, `X별`."""
    found: list[Mention] = []
    has_best = any(op in SUPERLATIVES for op in question.operators.values())
    for index, operator in question.operators.items():
        if operator not in ("which", "each", "by"):
            continue
        mention = _mention_at(question, index, "which" if operator == "which" else "each")
        if operator == "by" and mention is not None and not _is_by_group(question, index, mention):
            mention = None
        if operator == "which" and not has_best:
            if mention is not None and mention.table and not _is_what(question, index):
                raise NotComputableError("it asks for rows, not for a number")
            mention = None
        if (
            operator == "by"
            and question.pieces[index + 1 : index + 2]
            and (question.pieces[index + 1].kind == "number")
        ):
            raise NotComputableError("it is not clear from when to when")
        if mention is not None and not question.is_used(mention):
            found.append(mention)
        question.use_pieces([index])
    # 가장 X-은 Y: the noun behind is what is asked for.
    unique = list(dict.fromkeys(found))
    if len(unique) > 1:
        raise NotComputableError("it asks for several things at once")
    if unique:
        question.group = unique[0]
        question.use(unique[0])
    elif has_best and question.has("which") and not question.has("max", "min"):
        raise NotComputableError("it is not clear what is compared")


def _is_what(question: Question, index: int) -> bool:
    """`What is the …` asks for the number itself, `which` for a thing."""
    return question.pieces[index].text.lower() == "what"


def _is_by_group(question: Question, index: int, mention: Mention) -> bool:
    """`revenue by country`, but not `placed by customers`."""
    before = question.pieces[index - 1] if index else None
    is_plural = question.pieces[mention.end - 1].text.lower().endswith("s")
    return (
        before is not None
        and before.kind == "noun"
        and not before.text.lower().endswith("ed")
        and not is_plural
    )


def _mention_at(question: Question, index: int, role: str) -> Mention | None:
    piece = question.pieces[index]
    if not is_hangul(piece.text):
        after = question.mention_after(index)
        return question.last_of_run(after) if after is not None else None
    if role == "which" and piece.text in ("어떤", "어느", "무슨"):
        after = question.mention_after(index)
        return question.last_of_run(after) if after is not None else None
    if role == "each" and piece.text.startswith("각"):
        return None
    return question.mention_before(index)


def find_counted(question: Question) -> None:
    """Find what is counted: after `how many`, before 몇 개, beside `most`."""
    for name in ("count", "most", "fewest"):
        for index in question.indices(name):
            if is_hangul(question.pieces[index].text):
                mention = question.mention_before(index)
                # 가장 많이 주문된: how often, or how many pieces?
                is_adverb = question.pieces[index].text.endswith(("이", "게"))
                if name != "count" and not is_adverb and mention in (None, question.group):
                    mention = question.mention_after(index)
            else:
                mention = question.mention_after(index, through=("different",))
                mention = question.last_of_run(mention) if mention is not None else None
            if mention is None or mention == question.group:
                raise NotComputableError("it is not clear what is counted")
            if question.counted not in (None, mention):
                raise NotComputableError("it counts two things")
            question.counted = mention
            question.use(mention)
            question.use_pieces([index])
    if question.measure is None and question.counted is None:
        if question.has("share"):
            index = question.indices("share")[0]
            is_korean = is_hangul(question.pieces[index].text)
            side = question.mention_before if is_korean else question.mention_after
            mention = side(index)
            if mention is not None and mention.table:
                question.counted = mention
                question.use(mention)
        if question.counted is None:
            single_column(question)


def find_absent(question: Question) -> None:
    """`never placed an order`, `주문한 적이 없는`: rows that occur in no row of a table."""
    counted = question.counted
    negations = question.indices("not", "never")
    if not negations or question.has("but") or counted is None or counted.table is None:
        return
    index = negations[-1]
    is_korean = is_hangul(question.pieces[index].text)
    mention = question.mention_before(index) if is_korean else question.mention_after(index)
    if mention is None or mention.table is None or mention == counted:
        return
    others = [m for m in question.mentions if m.table and m not in (mention, counted)]
    if others or question.group is not None or mention.table == counted.table:
        raise NotComputableError("it is not clear what does not occur in what")
    question.absent = mention.table
    question.use(mention)
    question.use_pieces(negations)


def is_part(mention: Mention) -> bool:
    """Whether it is a year or a month, not a column that is called so."""
    return mention.concepts in (("year",), ("month",)) and not mention.columns
