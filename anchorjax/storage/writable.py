"""Whether a folder can be written, asked before anything is computed for it."""

import os
import pathlib

from anchorjax.errors import StoreError


def require_writable(folder: pathlib.Path) -> None:
    """Raises StoreError if a folder cannot be written, or made; writes nothing."""
    existing = folder
    while not os.path.lexists(existing):
        existing = existing.parent
    if not existing.is_dir():
        raise StoreError(f'cannot use {folder}: {existing} is not a folder')
    if not os.access(existing, os.W_OK | os.X_OK):
        raise StoreError(f'cannot use {folder}: {existing} is not writable')
