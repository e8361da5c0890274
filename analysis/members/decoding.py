"""What a network writes by itself: greedy decoding from a prompt."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from analysis.members.member import Member, compile_apply

# tokens [B, T] -> the most likely next token after every position, [B, T].
Predict = Callable[[np.ndarray], np.ndarray]


def make_predict(member: Member) -> Predict:
    """The next tokens of a member."""
    apply = compile_apply(member.experiment.model, member.experiment.task.vocab)
    params: Any = jax.device_put(member.params)

    def predict(tokens_BT: np.ndarray) -> np.ndarray:
        logits_BTV = apply(params, jnp.asarray(tokens_BT)).logits
        return np.asarray(logits_BTV.argmax(-1))

    return predict


def write_answers(
    predict: Predict, tokens_BT: np.ndarray, begin_B: np.ndarray, end: int
) -> np.ndarray:
    """The prompts, each continued by the most likely token up to `end`, [B, T + 1].

    `end` also fills what follows it. A text that never ends is cut at T + 1 tokens. Of
    `tokens_BT` only the prompts are read.

    Args:
      begin_B: where each answer begins, that is, the length of its prompt.
    """
    size, length = tokens_BT.shape
    written_BL = np.full((size, length + 1), end, np.int32)
    is_prompt_BT = np.arange(length) < begin_B[:, None]
    written_BL[:, :-1][is_prompt_BT] = tokens_BT[is_prompt_BT]
    rows = np.arange(size)
    place_B = np.array(begin_B)
    is_open_B = place_B <= length
    while is_open_B.any():
        next_BT = predict(written_BL[:, :-1])
        token_B = next_BT[rows, np.minimum(place_B, length) - 1]
        written_BL[rows[is_open_B], place_B[is_open_B]] = token_B[is_open_B]
        is_open_B &= token_B != end
        place_B += is_open_B
        is_open_B &= place_B <= length
    return written_BL
