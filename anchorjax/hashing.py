"""The digest by which a file from elsewhere is known."""

import hashlib
import pathlib


def digest_file(path: pathlib.Path) -> str:
    """The SHA-256 of a file as it is, in hexadecimal."""
    with open(path, 'rb') as f:
        return hashlib.file_digest(f, 'sha256').hexdigest()
