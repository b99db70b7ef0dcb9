"""What is added up: revenue, discounts, products of columns, single columns, prices."""

from __future__ import annotations

from rag_pipeline.relational.questions.computation import Measure
from rag_pipeline.relational.questions.interpretation.question_state import Question
from rag_pipeline.relational.questions.mentions import Mention
from rag_pipeline.relational.schema.amounts_of_tables import line_amounts
from rag_pipeline.relational.schema.joins import NotComputableError


def find_measure(question: Question) -> None:
    """Find what is added up: named amounts first, then products, then single columns."""
    for find in (_product, _discount, _amount):
        question.measure = find(question)
        if question.measure is not None:
            return


def _product(question: Question) -> Measure | None:
    """`price times stock`; or what is known as one: the value of a stock."""
    for index in question.indices("times"):
        left = question.mention_before(index)
        right = question.mention_after(index)
        if left is None or right is None:
            raise NotComputableError("it is not clear what is multiplied")
        question.use_pieces([index])
        return _product_of(question, left, right)
    for first, second in zip(question.mentions, question.mentions[1:], strict=False):
        if second.concepts == ("amount",) and first.end == second.start:
            prices = question.namer.with_words({"price"})
            tables = {table for table, _ in question.numbers(first.columns)}
            places = [p for p in question.numbers(prices) if p[0] in tables]
            if first.concepts == ("stock",) and len(places) == 1:
                question.use(first, second)
                (table, price) = places[0]
                stock = [n for t, n in question.numbers(first.columns) if t == table]
                if len(stock) == 1:
                    question.tables.add(table)
                    return Measure(table, "product", (price, stock[0]))
    return None


def _product_of(question: Question, left: Mention, right: Mention) -> Measure:
    pairs = [
        (a, b)
        for a in question.numbers(left.columns)
        for b in question.numbers(right.columns)
        if a[0] == b[0]
    ]
    if len(pairs) != 1:
        raise NotComputableError(f"{left.text} times {right.text} can be read in several ways")
    (table, one), (_, other) = pairs[0]
    question.use(left, right)
    # `the stock value (price times stock)` names the product once more.
    for first, second in zip(question.mentions, question.mentions[1:], strict=False):
        if second.concepts == ("amount",) and first.end == second.start:
            words = question.namer.words[table, one] | question.namer.words[table, other]
            if set(first.concepts) <= words:
                question.use(first, second)
    return Measure(table, "product", (one, other))


def _discount(question: Question) -> Measure | None:
    """The amount of discounts given; not the discount's rate."""
    for mention in question.mentions:
        if mention.concepts != ("discount",):
            continue
        totals = [i for i in question.indices("sum_amount") if question.is_near(i, mention)]
        totals += [i for i in question.indices("sum") if question.is_near(i, mention)]
        amounts = [
            other
            for other in question.mentions
            if other.concepts == ("amount",)
            and (other.start == mention.end or question.is_near(other.start, mention))
        ]
        if totals or amounts:
            if not totals and not question.has("sum"):
                raise NotComputableError("is the sum of the discounts meant?")
            question.use_pieces([*totals, *question.indices("sum"), *question.indices("much")])
            question.use(mention, *amounts)
            return _line_measure(question, "discount")
    return None


def _amount(question: Question) -> Measure | None:
    """Revenue: the amount of lines, or the one column that is called so."""
    revenue = [m for m in question.mentions if m.concepts == ("revenue",)]
    amount = [m for m in question.mentions if m.concepts == ("amount",) and not question.is_used(m)]
    if not revenue and not amount:
        return None
    net, gross = question.indices("net"), question.indices("gross")
    kind = "gross" if gross else "net"
    columns = [
        place
        for word in ("revenue", "amount", "total", "subtotal")
        for place in question.numbers(question.namer.with_words({word}))
    ]
    amounts = line_amounts(question.schema)
    if len(amounts) + len(set(columns)) != 1:
        raise NotComputableError("the data has several amounts, or none, that may be meant")
    if not revenue and not (net or gross):
        line = next(iter(amounts.values()), None)
        if line is not None and line.discount is not None:
            raise NotComputableError("is the amount before or after discounts meant?")
    question.use(*revenue, *amount)
    question.use_pieces([*net, *gross])
    if columns:
        if net or gross:
            raise NotComputableError("the data does not tell amounts before from after")
        table, name = columns[0]
        return Measure(table, "column", (name,))
    return _line_measure(question, kind)


def _line_measure(question: Question, kind: str) -> Measure:
    amounts = list(line_amounts(question.schema).values())
    if len(amounts) != 1:
        raise NotComputableError("the data has several amounts, or none, that may be meant")
    assert kind in ("net", "gross", "discount")
    if kind == "discount" and amounts[0].discount is None:
        raise NotComputableError("the data has no discounts")
    return Measure(amounts[0].table, kind, amount=amounts[0])  # type: ignore[arg-type]


def find_price(question: Question) -> None:
    """The most expensive X: the one whose own price is the highest."""
    group = question.group
    if not question.has("expensive", "cheap"):
        return
    prices = question.numbers(question.namer.with_words({"price"}))
    own = [place for place in prices if group is not None and place[0] == group.table]
    if len(own) != 1 or question.measure is not None:
        raise NotComputableError("it is not clear whose price is meant")
    question.measure = Measure(own[0][0], "column", (own[0][1],))


def single_column(question: Question) -> None:
    """A number's column that nothing else has explained."""
    candidates = [
        mention
        for mention in question.mentions
        if not question.is_used(mention) and mention.table is None
        if question.numbers(mention.columns)
    ]
    if len(candidates) != 1:
        return
    mention = candidates[0]
    places = [p for p in question.numbers(mention.columns) if p not in question.flags]
    named = {m.table for m in question.mentions if m.table}
    if len(places) > 1:
        places = [place for place in places if place[0] in named]
    if len(places) != 1:
        raise NotComputableError(f"{mention.text} stands in several tables, or in none")
    question.use(mention)
    question.measure = Measure(places[0][0], "column", (places[0][1],))
