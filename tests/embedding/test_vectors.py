import numpy as np
import pytest

from rag_pipeline.embedding.vectors import average_windows, check_vectors
from rag_pipeline.errors import EmbeddingReplyError


def test_vectors_get_unit_norm_and_keep_their_order() -> None:
    checked = check_vectors([[3.0, 4.0], [0.0, -2.0]], count=2, dimensions=2)
    assert checked.dtype == np.float32
    np.testing.assert_allclose(checked, [[0.6, 0.8], [0.0, -1.0]], rtol=1e-6)


def test_no_texts_give_no_vectors() -> None:
    assert check_vectors([], count=0, dimensions=3).shape == (0, 3)


def test_very_small_and_very_large_values_keep_their_direction() -> None:
    checked = check_vectors([[3e-30, 4e-30], [3e30, 4e30]], count=2, dimensions=2)
    np.testing.assert_allclose(checked, [[0.6, 0.8], [0.6, 0.8]], rtol=1e-6)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([], "0 vectors for 2 texts"),
        ([1.0, 0.0], "2 vectors for 2 texts"),
        ([[1.0, 0.0, 0.0]] * 2, "3 dimensions instead of 2"),
        ([[1.0, 0.0], [1.0]], "unequal length"),
        ([[1.0, 0.0], ["a", "b"]], "not numbers"),
        ([[1.0, 0.0], [None, 1.0]], "not finite, for texts 1"),
        ([[float("nan"), 0.0], [1.0, 0.0]], "not finite, for texts 0"),
        ([[1.0, 0.0], [float("inf"), 0.0]], "not finite, for texts 1"),
        ([[1.0, 0.0], [1e300, 0.0]], "not finite, for texts 1"),
        ([[1.0, 0.0], [0.0, 0.0]], "zero vectors, for texts 1"),
    ],
)
def test_a_wrong_reply_is_refused(reply: object, message: str) -> None:
    with pytest.raises(EmbeddingReplyError, match=message):
        check_vectors(reply, count=2, dimensions=2)


def test_windows_are_averaged_by_their_tokens() -> None:
    windows = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)
    averaged = average_windows(windows, owners=[0, 1, 0], weights=[300, 5, 100])
    np.testing.assert_allclose(averaged, [[1.0, 0.25], [0.0, 1.0]])


def test_one_window_a_text_is_taken_as_it_is() -> None:
    windows = np.array([[1, 0], [0, 1]], dtype=np.float32)
    np.testing.assert_array_equal(average_windows(windows, [1, 0], [7, 7]), [[0, 1], [1, 0]])
