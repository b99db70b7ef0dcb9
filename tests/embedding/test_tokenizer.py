import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from rag_pipeline.embedding import Embedder
from rag_pipeline.embedding.local.model_files import UNKNOWN_ID, ModelFiles
from rag_pipeline.embedding.local.unigram_tokenizer import (
    UnigramTokenizer,
    UnigramVocabulary,
    normalize,
)

TEXTS = [
    "The oil filter must be replaced every 500 operating hours.",
    "오류 코드 E-07이 표시되면 배터리를 교체하십시오.",
    "SQLSTATE 40P01 deadlock_detected: see table A-3 (page 12)",
    "ﬁ ① ㎏ Ａ full-width, émigré, 日本語のマニュアル 中文手册",
    "Wartungshandbuch: Fehlercode F07 zurücksetzen",
    "DS-7604NI-E1/4P/A … 25 N·m ± 5 %",
    "\U0001f600\U0001f600 ꙮꙮ \U00013000 mixed꙰with",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "",
]


@pytest.fixture(scope="module")
def tokenizer(files: ModelFiles) -> UnigramTokenizer:
    return UnigramTokenizer(UnigramVocabulary(files.folder), unknown_id=UNKNOWN_ID)


@pytest.fixture(scope="module")
def reference(files: ModelFiles) -> Tokenizer:
    vocabulary = UnigramVocabulary(files.folder)
    scored = zip(vocabulary._pieces, vocabulary.scores, strict=True)
    by_id = dict(zip(vocabulary.ids, scored, strict=True))
    # Special pieces are not in our vocabulary; no text can match a private-use placeholder.
    pieces = [by_id.get(i, (f"\ue000{i}", 0.0)) for i in range(max(by_id) + 1)]
    tokenizer = Tokenizer(models.Unigram(pieces, UNKNOWN_ID, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return tokenizer


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_the_reference(
    text: str, tokenizer: UnigramTokenizer, reference: Tokenizer
) -> None:
    assert tokenizer.encode(text) == reference.encode(normalize(text)).ids


@given(text=st.text(max_size=60))
def test_any_text_has_the_tokens_of_the_reference(
    text: str, tokenizer: UnigramTokenizer, reference: Tokenizer
) -> None:
    clean = normalize(text).replace("\ue000", "")
    assert tokenizer.encode(clean) == reference.encode(clean).ids


def test_the_sorted_list_and_the_dictionary_find_the_same(files: ModelFiles) -> None:
    plain, indexed = UnigramVocabulary(files.folder), UnigramVocabulary(files.folder)
    indexed.index()
    for piece in ["▁the", "▁", "은", "xyzzyx", "", "▁oil", "\U0010ffff"]:
        assert plain.find(piece) == indexed.find(piece)
    assert plain.find("xyzzyx") is None


def test_known_ids(tokenizer: UnigramTokenizer) -> None:
    # From the model's own vocabulary: "," is 4, "." is 5, "▁" is 6.
    assert tokenizer.encode(",") == [6, 4]
    assert tokenizer.encode("\ue123\ue124") == [6, UNKNOWN_ID]


def test_marks_spelled_out_are_plain_text(tokenizer: UnigramTokenizer) -> None:
    assert not {0, 1, 2, 250001} & set(tokenizer.encode("</s><s><pad><unk><mask>"))


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_every_unicode_form_has_the_same_tokens(form: str, tokenizer: UnigramTokenizer) -> None:
    for text in TEXTS:
        assert tokenizer.encode(unicodedata.normalize(form, text)) == tokenizer.encode(text)


def test_counts_add_up_over_words(embedder: Embedder) -> None:
    words = TEXTS[0].split()
    assert sum(embedder.count_tokens(words)) == embedder.count_tokens([TEXTS[0]])[0]
    assert embedder.count_tokens(["", " \n", "a  b"]) == [0, 0, 2]


def test_the_vocabulary_survives_writing_and_reading(tmp_path: Path) -> None:
    UnigramVocabulary.write(tmp_path, [("▁b", -2.0, 7), ("a", -1.5, 4)])
    vocabulary = UnigramVocabulary(tmp_path)
    place = vocabulary.find("▁b")
    assert place is not None
    assert (vocabulary.ids[place], vocabulary.scores[place], vocabulary.longest) == (7, -2.0, 2)
