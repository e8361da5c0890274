"""A sweep in n parts that know nothing of each other: `--shard=i/n`.

A shard is a run of consecutive chunks with about one n-th of the operations of the
whole sweep. Consecutive chunks share cohorts, so a shard compiles few programs.
Operations are counted, not chunks, because a deep cohort costs more than a shallow one.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from anchorjax.errors import UserError
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.cost import count_step

_DIGITS = 5  # of an index or a count, in the names of files
MOST_SHARDS = 10**_DIGITS - 1


class Shard(NamedTuple):
    """Part `index` (from 0) of `count`."""

    index: int
    count: int

    @property
    def name(self) -> str:
        """The stem of its files: 'shard_00003_of_00016'."""
        return f'shard_{self.index:0{_DIGITS}d}_of_{self.count:0{_DIGITS}d}'

    def __str__(self) -> str:
        return f'{self.index}/{self.count}'


WHOLE = Shard(0, 1)


def parse_shard(text: str) -> Shard:
    """'3/16' -> Shard(3, 16).

    Raises:
      UserError: the text does not have that form, or the index is not below the count.
    """
    index, _, count = text.partition('/')
    is_number = index.isdecimal() and count.isdecimal()
    is_short = max(len(index), len(count)) <= _DIGITS
    if not (is_number and is_short and int(index) < int(count)):
        raise UserError(
            f'--shard={text}: must be INDEX/COUNT with 0 <= INDEX < COUNT, e.g. 0/16'
        )
    return Shard(int(index), int(count))


def chunks_of_shard(folder: SweepFolder, shard: Shard) -> range:
    """The chunks that one shard trains, as indices into `folder.chunks`."""
    if shard.count == 1:
        return range(len(folder.chunks))
    return partition(list_costs(folder), shard)


def list_costs(folder: SweepFolder) -> list[float]:
    """Operations that one step of one member takes, for each of `folder.chunks`."""
    operations = {}  # by cohort
    for name, experiment in folder.experiment.of_cohorts.items():
        operations[name] = count_step(experiment).operations
    return [operations[chunk.cohort.name] for chunk in folder.chunks]


def partition(costs: Sequence[float], shard: Shard) -> range:
    """The items of one shard; all shards together have each item exactly once.

    An item belongs to the shard whose n-th of the total cost contains its middle.
    """
    ends = list(itertools.accumulate(costs))
    own_items = []
    for item, (cost, end) in enumerate(zip(costs, ends, strict=True)):
        middle = end - cost / 2
        owner = int(middle * shard.count / ends[-1])
        owner = min(owner, shard.count - 1)  # rounding may reach the end
        if owner == shard.index:
            own_items.append(item)
    if not own_items:
        return range(0)
    return range(own_items[0], own_items[-1] + 1)
