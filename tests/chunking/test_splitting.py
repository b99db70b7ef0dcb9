"""Sentences, words and fragments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.chunking.cutting.splitting import Fragment, sentences, shorten, split_texts, words
from rag_pipeline.chunking.task import TokenCounter
from tests.chunking.documents import count_characters, count_marked, count_pairs, count_words


def test_english_sentences() -> None:
    text = 'See Fig. 3 and p. 4, e.g. the J. Smith valve. Is it "open?" Close it! Then wait 2.5 s.'
    assert sentences(text) == [
        "See Fig. 3 and p. 4, e.g. the J. Smith valve. ",
        'Is it "open?" ',
        "Close it! ",
        "Then wait 2.5 s.",
    ]


def test_korean_sentences() -> None:
    assert sentences("밸브를 닫습니다. 다음으로 갑니다. 끝입니까? 네.") == [
        "밸브를 닫습니다. ",
        "다음으로 갑니다. ",
        "끝입니까? ",
        "네.",
    ]


def test_chinese_and_japanese_sentences() -> None:
    assert sentences("关闭阀门。然后等待！「停止。」次に進む。") == [
        "关闭阀门。",
        "然后等待！",
        "「停止。」",
        "次に進む。",
    ]


def test_list_lines_and_empty_lines_end_sentences() -> None:
    assert sentences("Tools\n\nYou need\n- a saw\n- a nail") == [
        "Tools\n\n",
        "You need\n",
        "- a saw\n",
        "- a nail",
    ]


@given(st.text())
def test_nothing_is_lost_in_sentences_and_words(text: str) -> None:
    assert "".join(sentences(text)) == text
    assert "".join(words(text)) == text


def test_a_long_sentence_is_split_between_words_and_a_long_word_between_characters() -> None:
    counter = TokenCounter(count_characters)
    [found] = split_texts([Fragment("aa bb cc. Dddddddddd.", 21)], [6], counter)
    assert [fragment.text for fragment in found][:2] == ["aa bb ", "cc. "]
    assert "".join(fragment.text for fragment in found[2:]) == "Dddddddddd."
    assert all(len(fragment.text.strip()) <= 6 for fragment in found)


def test_combining_marks_stay_with_their_letter() -> None:
    text = "e\u0301" * 40
    [found] = split_texts([Fragment(text, 80)], [15], TokenCounter(count_characters))
    assert "".join(fragment.text for fragment in found) == text
    assert all(fragment.text[0] == "e" for fragment in found)


@given(st.lists(st.text(alphabet="ab .。가\n", max_size=200), max_size=4), st.integers(1, 20))
def test_fragments_join_to_the_text_and_keep_the_limit(texts: list[str], limit: int) -> None:
    counter = TokenCounter(count_characters)
    for by_line in (False, True):
        whole = [Fragment(text, len(text), by_line) for text in texts]
        found = split_texts(whole, [limit] * len(texts), counter)
        assert ["".join(f.text for f in fragments) for fragments in found] == texts
        assert all(len(f.text.strip()) <= limit for fragments in found for f in fragments)


def test_shorten_cuts_at_a_word() -> None:
    assert shorten("alpha beta", 10, 10) == "alpha beta"
    assert shorten("alpha beta gamma delta", 22, 15) == "alpha beta…"


def test_counters_learn_what_a_vocabulary_adds() -> None:
    def learnt(count):
        counter = TokenCounter(count)
        return counter.special, counter.space, counter.newline

    assert learnt(count_words) == (0, 0, 0)
    assert learnt(count_characters) == (0, 1, 1)
    assert learnt(count_marked) == (2, 0, 0)
    assert learnt(count_pairs) == (0, 0, 1)
    assert TokenCounter(count_marked).parts(["a b c"]) == [3]
    assert TokenCounter(count_marked).whole(["a b c"]) == [5]
