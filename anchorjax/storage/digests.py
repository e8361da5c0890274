"""A digest for every row of every array: what is read back is what was written, or is refused."""

import hashlib
from typing import Any

import jax
import numpy as np

from anchorjax.training import hosts


def digest_tree(tree: Any) -> dict[str, dict]:
    """Per leaf its dtype, shape and a digest of every row (of its first axis).

    Orbax restores flipped bytes without a word. By row, because a row is a member, a member can
    be read alone, and each process computes those of its own rows.
    """
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    here = {jax.tree_util.keystr(path): _described(array) for path, array in leaves}
    merged: dict[str, dict] = {}
    for described in hosts.gather(here):
        for label, own in described.items():
            whole = merged.setdefault(label, own | {'rows': [None] * own['shape'][0]})
            for row, text in own['rows'].items():
                whole['rows'][int(row)] = text
    return merged


def _described(array: Any) -> dict:
    """dtype, shape and the digest of each row that is here."""
    pieces = [(0, array)] if isinstance(array, np.ndarray) else _shards(array)
    rows = {
        i: digest_array(x)
        for start, piece in pieces
        for i, x in enumerate(piece, start)
    }
    return {'dtype': str(array.dtype), 'shape': list(array.shape), 'rows': rows}


def _shards(array: jax.Array) -> list[tuple[int, np.ndarray]]:
    return [
        (s.index[0].start or 0, np.asarray(s.data)) for s in array.addressable_shards
    ]


def digest_array(array: np.ndarray) -> str:
    """The first 128 bits of the SHA-256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:32]
