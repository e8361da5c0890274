"""What each stage did in all calls so far: a JSON file (see sweeps/stages.py)."""

import dataclasses
import pathlib
import sys

from anchorjax.config import schema
from anchorjax.errors import UserError, require
from anchorjax.storage import atomic

DONE, STOPPED, FAILED, WAITING = 'done', 'stopped', 'failed', 'waiting'
LEDGER_FILE = 'stages.json'


@dataclasses.dataclass
class Entry:
    """What a stage did in all calls so far."""

    state: str = WAITING
    seconds: float = 0.0  # with compilation and saving
    rate: float = 0.0  # member-steps a second while training
    device: str = ''
    message: str = ''  # why it failed


Ledger = dict[str, Entry]


def read_ledger(root: pathlib.Path) -> Ledger:
    """The ledger in a folder; empty if there is none, or it is damaged.

    It holds no training state, so a damaged one costs the times of earlier calls alone.
    """
    path = root / LEDGER_FILE
    ledger: Ledger = {}
    if not path.exists():
        return ledger
    try:
        values = atomic.read_json(path)
        require(isinstance(values, dict), str(path), values, 'an object')
        for name, entry in values.items():
            require(isinstance(entry, dict), f'{path}: {name}', entry, 'an object')
            ledger[name] = schema.build(Entry, entry, f'{path}: {name}')
    except UserError as e:
        print(f'warning: the times of earlier calls are lost: {e}', file=sys.stderr)
        return {}
    return ledger


def write_ledger(root: pathlib.Path, ledger: Ledger) -> None:
    """Writes the ledger of `read_ledger`."""
    values = {}
    for name, entry in ledger.items():
        values[name] = dataclasses.asdict(entry)
    atomic.write_json(root / LEDGER_FILE, values)
