"""A digest for every row of every array, because Orbax restores altered bytes silently.

A row is a member: so a member can be read and checked by itself, and each process
computes the digests of its own rows.
"""

import hashlib
import json
from typing import Any

import jax
import numpy as np

from anchorjax.training import hosts


def digest_array(array: np.ndarray) -> str:
    """The first 128 bits of the SHA-256 of an array's bytes."""
    data = np.ascontiguousarray(array).tobytes()
    return hashlib.sha256(data).hexdigest()[:32]


def digest_json(value: Any) -> str:
    """The same of plain JSON, whatever the order of its keys."""
    data = json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:32]


def digest_tree(tree: Any) -> dict[str, dict]:
    """dtype, shape and digests of the rows (first axis) of every leaf, by its label.

    All processes must call it; each gets the digests of all rows.
    """
    local = {}
    for path, array in jax.tree_util.tree_leaves_with_path(tree):
        local[jax.tree_util.keystr(path)] = _describe_local_rows(array)
    merged: dict[str, dict] = {}
    for described in hosts.gather(local):
        for label, leaf in described.items():
            num_rows = leaf['shape'][0]
            if label not in merged:
                merged[label] = {**leaf, 'rows': [None] * num_rows}
            for row, digest in leaf['rows'].items():
                merged[label]['rows'][int(row)] = digest
    return merged


def _describe_local_rows(array: np.ndarray | jax.Array) -> dict:
    """dtype, shape and the digests of the rows that this process holds."""
    if isinstance(array, np.ndarray):
        pieces = [(0, array)]
    else:
        pieces = []
        for shard in array.addressable_shards:
            first_row = shard.index[0].start or 0
            pieces.append((first_row, np.asarray(shard.data)))
    rows = {}
    for first_row, piece in pieces:
        for row, values in enumerate(piece, first_row):
            rows[row] = digest_array(values)
    return {'dtype': str(array.dtype), 'shape': list(array.shape), 'rows': rows}
