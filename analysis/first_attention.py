"""Does layer 1 average, what does W_V read, does layer 2 find the key? (P2 Fig 6)

P2 says: at a small start the attention of layer 1 is 1/i; W_V has one large singular
value, whose vector lies along the embeddings of the reasoning anchors and orthogonal to
those of the memory anchors; layer 2 finds the key by its position.

  distance    total variation distance of the attention from 1/i, beside rows at random
  alignment   |cosine| of the embeddings with the first vectors of W_V, beside random
              directions
  key         attention of the last position to the key in layer 2, beside 1/T, and what
              is left of it when all position embeddings are the same

Every number also of the network before training.

  python analysis/first_attention.py --run runs/memory_reasoning
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl

from analysis.bias import attention_panels
from analysis.bias.alignment import (
    expect_random_alignment,
    measure_values,
)
from analysis.bias.attention import (
    attend_to_key,
    average_by_position,
    average_first_attention,
    expect_random_distance,
    find_keys,
    measure_distance,
    remove_positions,
)
from analysis.bias.snapshots import find_common_steps, find_early
from analysis.bias.tokens import SINGLE_KINDS, TASK, list_tokens
from analysis.circuits.flows import average_attention
from analysis.drawing import command, style
from analysis.drawing.bands import scale_steps
from analysis.members.member import Member, member_of, require_attention
from analysis.members.selection import report_progress
from analysis.members.table import (
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.members.untrained import make_untrained
from anchorjax.errors import require
from anchorjax.storage.reader import Run

NUMBER = 300  # sequences of each probe
W_V = 'block_0/W_V'


class Result(NamedTuple):
    """Axes: member M, snapshot S (0 is before training), kind (SINGLE_KINDS)."""

    members: Table
    step_S: np.ndarray
    early: int
    attention: np.ndarray  # [M, T, T] of layer 1 at the early step, mean of sequences
    distance: np.ndarray  # [M, S] from 1/i
    random_distance_M: np.ndarray  # of rows at random
    sigma: np.ndarray  # [M, index] singular values of W_V at the early step
    sigma_ratio: np.ndarray  # [M, S] first by second singular value
    alignment: np.ndarray  # [M, S, kind, vector]
    random_alignment: np.ndarray  # (mean, 95 % quantile) of a random direction
    key: np.ndarray  # [M, S] attention of layer 2 to the key; NaN without a layer 2
    key_by_position: np.ndarray  # [M, position of the key] at the last step
    key_without_positions: np.ndarray  # [M] at the last step; NaN without positions
    chance_M: np.ndarray  # 1/T
    # What the last position reads of each role at the last step, where it is noise.
    sources: np.ndarray  # [M, layer, role]
    role_names: tuple[str, ...]


class _Numbers(NamedTuple):
    """What is measured of one member at one step."""

    attention: np.ndarray
    distance: float
    sigma: np.ndarray
    sigma_ratio: float
    alignment: np.ndarray
    key: float


# One thread gives the same bits on every machine, and is faster for small matrices.
@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(run: Run, early: int | None = None, number: int = NUMBER) -> Result:
    """Attention and W_V of every trained member, at initialization and all snapshots.

    Args:
      early: the snapshot of the pictures.
      number: of sequences of each probe.

    Raises:
      UserError: another task, a model without attention, or no such snapshot.
    """
    require(number >= 1, 'number', number, 'at least 1')
    points = list_points(run, TASK)
    snapshots_S = find_common_steps(run, points)
    early = find_early(run, points, snapshots_S, early)
    step_S = np.union1d([0], snapshots_S)
    numbers, ends = [], []
    for point in report_progress(points, 'first_attention'):
        last = member_of(run, int(snapshots_S[-1]), **point)
        require_attention(last)
        tokens_BT = np.concatenate(last.probes.tokens_PBT[:, :number])
        of_member = [_measure(make_untrained(last), tokens_BT)]
        for step in step_S[1:]:
            member = member_of(run, int(step), **point)
            of_member.append(_measure(member, tokens_BT))
        numbers.append(of_member)
        ends.append(_measure_end(last, tokens_BT))
    at_early = step_S.tolist().index(early)
    by_position, without_positions, sources = zip(*ends, strict=True)
    lengths = [of_member[0].attention.shape[-1] for of_member in numbers]
    width = run.parameter(W_V, int(step_S[-1]), **points[0]).shape[0]
    return Result(
        members=tabulate_members(run, points),
        step_S=step_S,
        early=early,
        attention=_pad([row[at_early].attention for row in numbers]),
        distance=_gather(numbers, 'distance'),
        random_distance_M=np.array(list(map(expect_random_distance, lengths))),
        sigma=np.array([row[at_early].sigma for row in numbers]),
        sigma_ratio=_gather(numbers, 'sigma_ratio'),
        alignment=_gather(numbers, 'alignment'),
        random_alignment=np.array(expect_random_alignment(width)),
        key=_gather(numbers, 'key'),
        key_by_position=_pad(list(by_position)),
        key_without_positions=np.array(without_positions),
        chance_M=1 / np.array(lengths),
        sources=np.array(sources),
        role_names=last.task.role_names,
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [panel, 5]: attention, distance, singular values, alignment, key."""
    for row, panel in zip(axes, list_panels(result.members), strict=True):
        attention_panels.draw_attention(row[0], result, panel)
        attention_panels.draw_distance(row[1], result, panel)
        attention_panels.draw_values(row[2], result, panel)
        attention_panels.draw_alignment(row[3], result, panel)
        attention_panels.draw_key(row[4], result, panel)
    for axis in axes[:, [1, 3, 4]].flat:
        scale_steps(axis)
    titles = (
        f'layer 1, step {result.early:,}',
        'distance from 1/i',
        f'singular values, {W_V}',
        'its first vector: |cosine|',
        'layer 2: last → key',
    )
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title, fontsize=7)
    for axis, label in zip(
        axes[-1], ('', 'step', 'index', 'step', 'step'), strict=True
    ):
        axis.set_xlabel(label)
    axes[0, 1].legend(fontsize=5)
    axes[0, 3].legend(fontsize=5)


def _measure(member: Member, tokens_BT: np.ndarray) -> _Numbers:
    tokens = list_tokens(member.experiment.task)
    Attn_BTT = average_first_attention(member, tokens_BT)
    values = measure_values(
        member.matrix(W_V),
        member.matrix('W_embed'),
        {kind: tokens[kind] for kind in SINGLE_KINDS},
    )
    return _Numbers(
        attention=Attn_BTT.mean(0),
        distance=measure_distance(Attn_BTT),
        sigma=values.sigma,
        sigma_ratio=values.sigma[0] / values.sigma[1],
        alignment=values.alignment,
        key=attend_to_key(member, tokens_BT).mean(),
    )


def _measure_end(
    member: Member, tokens_BT: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Attention to the key by its position and with all positions alike; `sources`."""
    by_position = average_by_position(
        attend_to_key(member, tokens_BT),
        find_keys(member, tokens_BT),
        member.experiment.task.num_positions,
    )
    last = member.task.role_names.index('last')
    sources = average_attention(member, tokens_BT)[:, :, last]
    if 'W_pos' not in member.params:
        return by_position, np.nan, sources
    blind = remove_positions(member)
    without_positions = attend_to_key(blind, tokens_BT).mean()
    return by_position, float(without_positions), sources


def _gather(numbers: list[list[_Numbers]], field: str) -> np.ndarray:
    """A field of every member and step, [M, S, ...]."""
    rows = []
    for of_member in numbers:
        rows.append([getattr(at_step, field) for at_step in of_member])
    return np.array(rows)


def _pad(arrays: list[np.ndarray]) -> np.ndarray:
    """The arrays as one, with NaN beyond the end of the smaller ones."""
    shape = np.max([array.shape for array in arrays], axis=0)
    padded = np.full((len(arrays), *shape), np.nan)
    for m, array in enumerate(arrays):
        padded[m][tuple(map(slice, array.shape))] = array
    return padded


def layout(result: Result) -> style.Layout:
    rows = len(list_panels(result.members))
    return style.Layout(rows, 5, 9.0, 0.5 + 1.6 * rows)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'first_attention',
        compute,
        draw,
        layout,
        early=command.Flag(
            command.parse_count, None, 'snapshot; default: the last before reasoning'
        ),
        number=command.Flag(command.parse_count, NUMBER, 'sequences of each probe'),
    )
