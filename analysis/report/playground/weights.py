"""The weights of a member as text, in half precision where its answers allow it."""

import base64
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from flax.traverse_util import flatten_dict

from analysis.circuits.interventions import read_answers
from analysis.members.member import Member, make_apply
from anchorjax.model import ModelConfig

BATCH = 512  # sequences of one call; every call has the same shape
BATCHES = 4  # of every probe

Array = jax.Array | np.ndarray


class Weights(NamedTuple):
    """All parameters of a member, one after the other, little-endian, in base64."""

    dtype: str  # 'float16' or 'float32'
    arrays: list[tuple[str, list[int]]]  # (path, shape) in their order
    text: str


def pack_weights(member: Member) -> Weights:
    """The weights in float16 if no answer to the member's probes changes, else float32.

    The probes are the sequences that training measured: up to BATCH * BATCHES of each.
    """
    rounded = jax.tree.map(_round_to_half, member.params)
    dtype = 'float16' if _answer_alike(member, rounded) else 'float32'
    return pack_in(member.params, dtype)


def pack_in(params: Any, dtype: str) -> Weights:
    """The parameters in this precision, whatever becomes of the answers."""
    leaves = flatten_dict(params, sep='/')
    arrays = []
    parts = []
    for path, leaf in leaves.items():
        stored = np.asarray(leaf).astype(np.dtype(dtype).newbyteorder('<'))
        arrays.append((path, list(stored.shape)))
        parts.append(stored.tobytes())
    return Weights(dtype, arrays, base64.b64encode(b''.join(parts)).decode())


def _round_to_half(leaf: Array) -> np.ndarray:
    with np.errstate(over='ignore'):  # infinity changes the answers: float32 then
        return np.asarray(leaf).astype(np.float16).astype(np.float32)


def _answer_alike(member: Member, params: Any) -> bool:
    """Whether these parameters answer every probed sequence as the member's own do."""
    answer = _make_answers(member.experiment.model, member.experiment.task.vocab)
    for tokens_BT in _list_batches(member.probes.tokens_PBT):
        expected = np.asarray(answer(member.params, tokens_BT))
        if not np.array_equal(expected, answer(params, tokens_BT)):
            return False
    return True


def _list_batches(tokens_PBT: np.ndarray) -> list[np.ndarray]:
    """Batches of one shape; a probe with fewer sequences repeats them."""
    batches = []
    for tokens_BT in tokens_PBT:
        number = min(BATCHES, -(-len(tokens_BT) // BATCH))
        shape = (number, BATCH, tokens_BT.shape[1])
        batches += list(np.resize(tokens_BT[: number * BATCH], shape))
    return batches


@functools.lru_cache
def _make_answers(model: ModelConfig, vocab: int) -> Callable[..., jax.Array]:
    apply = make_apply(model, vocab)

    @jax.jit
    def answer(params: Any, tokens_BT: Array) -> jax.Array:
        return read_answers(apply(params, tokens_BT))

    return answer
