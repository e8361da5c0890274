"""What a network writes after a question of PrOntoQA, and what of it is right."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.network import Network, compile_apply, program_of, read_eval_set
from anchorjax.tasks.prontoqa.texts import COLON, END, FALSE, TRUE

EVAL_SET = 'seen_heldout_proof'
# tokens [B, T] -> the most likely next token after every position, [B, T].
Predict = Callable[[np.ndarray], np.ndarray]


class Written(NamedTuple):
    """What a network wrote after each question, and what is right."""

    text_BL: np.ndarray  # with the question
    right_BL: np.ndarray
    begin_B: np.ndarray  # where the answer begins
    label_after_right_proof_B: np.ndarray


def let_write(member: Network, number: int) -> Written:
    """What a member writes after the first questions of the eval set."""
    asked = read_eval_set(member.experiment.task, member.point['seed'], EVAL_SET)
    tokens_BT, right_BT, is_scored_BT = (part[:number] for part in asked)
    begin_B = is_scored_BT.argmax(-1) + 1
    predict = make_predict(member)
    right_BL = np.concatenate([tokens_BT[:, :1], right_BT], axis=1)
    before_label_B = find_end(right_BL, begin_B) - 2
    return Written(
        text_BL=write_answers(predict, tokens_BT, begin_B, END),
        right_BL=right_BL,
        begin_B=begin_B,
        label_after_right_proof_B=_take(predict(tokens_BT), before_label_B),
    )


def measure(written: Written) -> dict[str, float]:
    """Shares of the questions, by name; NaN of wrong proofs where there is none."""
    end_B = find_end(written.text_BL, written.begin_B)
    right_end_B = find_end(written.right_BL, written.begin_B)
    has_ended_B = end_B < written.text_BL.shape[1]
    right_label_B = _take(written.right_BL, right_end_B - 1)
    label_B = np.where(has_ended_B, _take(written.text_BL, end_B - 1), END)
    is_label_right_B = label_B == right_label_B
    is_proof_right_B = _find_right_proofs(written, end_B, right_end_B)
    is_forced_right_B = written.label_after_right_proof_B == right_label_B
    is_exact_B = (written.text_BL == written.right_BL).all(1)
    fits_B = _find_fitting(written, end_B, label_B)
    of_wrong = np.nan
    if not is_proof_right_B.all():
        of_wrong = is_label_right_B[~is_proof_right_B].mean()
    return {
        # Teacher forced: what training records.
        'label after right proof': is_forced_right_B.mean(),
        'label after own proof': is_label_right_B.mean(),
        'own proof right': is_proof_right_B.mean(),
        # Exact match of the whole answer.
        'proof and label right': is_exact_B.mean(),
        # The label that its last sentence gives to the query.
        'label fits own proof': fits_B.mean(),
        'label after wrong proof': of_wrong,
        'ended': has_ended_B.mean(),
    }


def find_end(text_BL: np.ndarray, begin_B: np.ndarray) -> np.ndarray:
    """The place of the first END of every answer; L where there is none."""
    length = text_BL.shape[1]
    is_answer_BL = np.arange(length) >= begin_B[:, None]
    is_end_BL = is_answer_BL & (text_BL == END)
    return np.where(is_end_BL.any(1), is_end_BL.argmax(1), length)


def _find_right_proofs(
    written: Written, end_B: np.ndarray, right_end_B: np.ndarray
) -> np.ndarray:
    """Whether all before the label is right, bool [B]."""
    is_proof_BL = np.arange(written.text_BL.shape[1]) < right_end_B[:, None] - 1
    is_same_BL = (written.text_BL == written.right_BL) | ~is_proof_BL
    return is_same_BL.all(1) & (end_B == right_end_B)


def _find_fitting(
    written: Written, end_B: np.ndarray, label_B: np.ndarray
) -> np.ndarray:
    """Whether the label is what the last sentence of the own proof says, bool [B].

    True if that sentence is the query, False if it is another one.
    """
    fits = []
    texts = zip(written.text_BL, written.begin_B, end_B, label_B, strict=True)
    for text_L, begin, end, label in texts:
        tokens = text_L.tolist()
        question = tokens[:begin][:-2]  # without A :
        query = question[len(question) - question[::-1].index(COLON) :]
        answer = tokens[begin : max(begin, end - 1)]
        last_sentence = answer[-len(query) :]
        expected = TRUE if last_sentence == query else FALSE
        fits.append(label == expected)
    return np.array(fits)


def _take(values_BL: np.ndarray, place_B: np.ndarray) -> np.ndarray:
    return values_BL[np.arange(len(values_BL)), place_B]


def make_predict(member: Network) -> Predict:
    """The next tokens of a member."""
    apply = compile_apply(*program_of(member.experiment))
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
