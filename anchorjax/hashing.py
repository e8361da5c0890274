"""Digests of files, arrays and JSON."""

import hashlib
import json
import pathlib
from typing import Any

import numpy as np

_SHORT = 32  # hexadecimal digits: 128 bits


def digest_file(path: pathlib.Path) -> str:
    """The SHA-256 of a file as it is, in hexadecimal."""
    with open(path, 'rb') as f:
        return hashlib.file_digest(f, 'sha256').hexdigest()


def digest_array(array: np.ndarray) -> str:
    """The first 128 bits of the SHA-256 of an array's bytes."""
    data = np.ascontiguousarray(array).tobytes()
    return hashlib.sha256(data).hexdigest()[:_SHORT]


def digest_json(value: Any) -> str:
    """The same of plain JSON, whatever the order of its keys."""
    data = json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()[:_SHORT]
