"""Reading order, lines and blocks."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.parsing.pdf.layout.joining import Spelling, join_lines, mend_breaks
from tests.parsing.pages import blocks_of, draw_pdf, lines

LEFT = [
    "The compressor draws air through the",
    "filter on its left side and presses it",
    "into the separator vessel, where oil",
    "and air part from one another.",
]
RIGHT = [
    "The oil returns through the scavenge",
    "line to the airend. A sight glass in the",
    "line shows whether oil flows at all",
    "while the machine is under load.",
]


def words(texts: list[str]) -> list[str]:
    return " ".join(texts).split()


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    """Fault P3, with a title over both columns."""

    def page(canvas: object) -> None:
        lines(canvas, ["How the Oil Flows through the Machine and Back"], x=150, top=80, size=14)
        lines(canvas, LEFT, x=72, top=120)
        lines(canvas, RIGHT, x=310, top=120)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert frame["text"].iloc[0].startswith("How the Oil")
    assert words(frame["text"].tolist()[1:]) == words([*LEFT, *RIGHT])


def test_a_line_across_right_below_two_columns_begins_what_follows(tmp_path: Path) -> None:
    note = [
        "2. Both drawings are taken from the manual of the older machine, which",
        "is still sold in some countries.",
    ]

    def page(canvas: object) -> None:
        lines(canvas, LEFT, x=72, top=120)
        lines(canvas, RIGHT, x=310, top=120)
        lines(canvas, note, x=72, top=200)

    texts = blocks_of(draw_pdf(tmp_path / "a.pdf", page))["text"].tolist()
    assert words(texts) == words([*LEFT, *RIGHT, *note])


def test_columns_drawn_row_by_row_are_still_columns(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
            lines(canvas, [left], x=72, top=120 + 13 * number)
            lines(canvas, [right], x=310, top=120 + 13 * number)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert words(frame["text"].tolist()) == words([*LEFT, *RIGHT])


def test_short_pairs_drawn_row_by_row_are_read_by_rows(tmp_path: Path) -> None:
    pairs = [("Power", "37 kW"), ("Weight", "940 kg"), ("Noise", "72 dB"), ("Oil", "18 l")]

    def page(canvas: object) -> None:
        for number, (name, value) in enumerate(pairs):
            lines(canvas, [name], x=72, top=120 + 20 * number)
            lines(canvas, [value], x=310, top=120 + 20 * number)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert words(frame["text"].tolist()) == "Power 37 kW Weight 940 kg Noise 72 dB Oil 18 l".split()


def test_gap_style_and_marker_start_blocks(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        lines(canvas, ["Safety"], top=100, size=14, font="Helvetica-Bold")
        lines(canvas, ["Read this first before you open the machine and", "touch it."], top=120)
        lines(canvas, ["Another paragraph."], top=160)
        lines(
            canvas,
            ["1. Stop.", "2. Wait until the pressure is gone and the motor stands,", "still."],
            top=180,
        )

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert frame["text"].tolist() == [
        "Safety",
        "Read this first before you open the machine and\ntouch it.",
        "Another paragraph.",
        "1. Stop.",
        "2. Wait until the pressure is gone and the motor stands,\nstill.",
    ]


def test_bold_beginning_stays_with_its_paragraph(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(72, 700, "Checking the belt.")
        canvas.setFont("Helvetica", 10)
        canvas.drawString(165, 700, "Press the belt with your thumb. It must not")
        canvas.drawString(72, 687, "give way by more than a finger's breadth at the middle.")

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert len(frame) == 1
    assert (frame["bold_lead"].iloc[0], frame["is_bold"].iloc[0]) == ("Checking the belt.", False)


def test_hyphens_and_ligatures(tmp_path: Path) -> None:
    """Fault P8: broken words are joined; real hyphens stay where the document writes them."""

    def page(canvas: object) -> None:
        lines(canvas, ["The separa-", "tor is a well-", "known part."], top=100)
        lines(canvas, ["It is well-known."], top=200)

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert frame["text"].iloc[0] == "The separator\nis a well-known\npart."


def test_a_document_that_breaks_no_words_keeps_the_hyphens_at_its_line_ends(tmp_path: Path) -> None:
    body = ["The pump moves the coolant from the tank to the nozzle."] * 9

    def page(canvas: object) -> None:
        lines(
            canvas, ["Open the non-", "return valve, and use an oil-", "free rag.", *body], top=100
        )

    text = " ".join(" ".join(blocks_of(draw_pdf(tmp_path / "a.pdf", page))["text"]).split())
    assert "the non-return valve, and use an oil-free rag." in text


def test_a_part_that_a_document_sets_before_hyphens_keeps_its_own_at_a_line_end(
    tmp_path: Path,
) -> None:
    body = [
        "Use non-slip boots and non-toxic oil. Is the return pipe open?",
        "To move it, re-enter the code and re-use the key; place, write and take",
        "are words, and so are replace, rewrite and retake.",
    ]
    broken = ["It moves the cool-", "ant through the non-", "return valve and the sepa-"]

    def page(canvas: object) -> None:
        lines(canvas, [*broken, "rator; do not re-", "move it.", *body], top=100)

    text = " ".join(" ".join(blocks_of(draw_pdf(tmp_path / "a.pdf", page))["text"]).split())
    assert "the coolant through the non-return valve and the separator; do not remove it." in text


def test_code_keeps_lines_and_indentation(tmp_path: Path) -> None:
    def page(canvas: object) -> None:
        lines(canvas, ["if ready:"], x=72, top=100, font="Courier")
        lines(canvas, ["start()"], x=96, top=113, font="Courier")

    frame = blocks_of(draw_pdf(tmp_path / "a.pdf", page))
    assert frame["kind"].tolist() == ["code"]
    assert frame["text"].iloc[0] == "if ready:\n    start()"


@given(st.lists(st.text("abcxyz -", min_size=1, max_size=20), min_size=1, max_size=6))
def test_joining_loses_no_letter(texts: list[str]) -> None:
    joined = mend_breaks(join_lines(texts), Spelling())
    letters = [character for text in texts for character in text if character.isalpha()]
    assert [character for character in joined if character.isalpha()] == letters
