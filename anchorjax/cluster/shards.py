"""A sweep in n parts that know nothing of each other: `--shard=i/n`.

A part is a run of consecutive chunks, of about one n-th of the operations of all: consecutive,
so that it compiles few cohorts; by operations, because a deep cohort costs more than a shallow one.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from anchorjax.errors import UserError


class Shard(NamedTuple):
    """Part `index` (from 0) of `count`."""

    index: int
    count: int

    @property
    def name(self) -> str:
        """Names its files: 'shard_00003_of_00016'."""
        return f'shard_{self.index:05d}_of_{self.count:05d}'

    def __str__(self) -> str:
        return f'{self.index}/{self.count}'


WHOLE = Shard(0, 1)


def parse_shard(text: str) -> Shard:
    """'3/16' -> Shard(3, 16).

    Raises:
      UserError: it is not of that form, or 3 is not below 16.
    """
    index, slash, count = text.partition('/')
    numbers = (
        slash
        and index.isdecimal()
        and count.isdecimal()
        and max(len(index), len(count)) < 6
    )
    if not (numbers and int(index) < int(count)):
        raise UserError(
            f'--shard={text}: must be INDEX/COUNT with 0 <= INDEX < COUNT, e.g. 0/16'
        )
    return Shard(int(index), int(count))


def partition(costs: Sequence[float], shard: Shard) -> range:
    """The items of one shard; the parts of all shards are disjoint and cover all items.

    An item belongs to the shard in whose n-th of the total cost its middle lies.
    """
    ends = list(itertools.accumulate(costs))
    if not ends:
        return range(0)
    middles = (end - cost / 2 for end, cost in zip(ends, costs, strict=True))
    owners = [min(int(m * shard.count / ends[-1]), shard.count - 1) for m in middles]
    mine = [i for i, owner in enumerate(owners) if owner == shard.index]
    return range(mine[0], mine[-1] + 1) if mine else range(0)
