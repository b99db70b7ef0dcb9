"""Leaves out what a model thinks: `<think>…</think>` in the text of its reply.

Servers that know their model send its thinking in a field of its own (`reasoning_content`); others
pass it on as text, in front of the answer.
"""

from __future__ import annotations

import re

_OPENING = re.compile(r"<(think|thinking)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(think|thinking)>", re.IGNORECASE)
_LONGEST = len("</thinking>")
_BEGUN = re.compile(r"</?[a-z]*\Z", re.IGNORECASE)


class ThoughtFilter:
    """Passes on the answer as it arrives, however its text is cut into pieces.

    A thought that is never closed reaches to the end. A reply may lack the opening mark where the
    server puts it into the prompt: `answer_in` sees that in the whole text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking = False
        self._is_answering = False
        self.has_thought = False
        """Whether anything was left out."""

    def add(self, text: str) -> str:
        """Take the next piece, and return what is certain to belong to the answer."""
        self._held += text
        shown: list[str] = []
        while mark := (_CLOSING if self._is_thinking else _OPENING).search(self._held):
            if not self._is_thinking:
                shown.append(self._held[: mark.start()])
            self._held = self._held[mark.end() :]
            self.has_thought = True
            self._is_thinking = not self._is_thinking
        begun = _BEGUN.search(self._held, max(0, len(self._held) - _LONGEST))
        sure = begun.start() if begun else len(self._held)
        if not self._is_thinking:
            shown.append(self._held[:sure])
        self._held = self._held[sure:]
        return self._answer("".join(shown))

    def rest(self) -> str:
        """Return what was held back as the beginning of a mark, once nothing more comes."""
        held, self._held = self._held, ""
        return "" if self._is_thinking else self._answer(held)

    def _answer(self, text: str) -> str:
        """Return the text without the space before the answer, which may follow a thought."""
        if not self._is_answering:
            text = text.lstrip()
        self._is_answering = self._is_answering or bool(text.strip())
        return text


def answer_in(text: str) -> str:
    """Return the answer in a filtered reply: without a thought that only its end marks.

    >>> answer_in("The torque is in chunk 2.\\n</think>\\n35 Nm [c2]")
    '35 Nm [c2]'
    """
    ends = list(_CLOSING.finditer(text))
    return text[ends[-1].end() :].lstrip() if ends else text
