"""Do symmetric networks ignore the order of the pair, or do they not know it?

In every converged member: how much of the order of the two anchors is there where the
answer is given (`circuits.order`), from the start of training to its end, beside the
answers to the unseen pair. Noise stands last where the task has such sequences. With
--every=true also in those that have not converged: dashed lines, and crosses.

  python -m analysis pair_order --run runs/phase_noise
"""

from typing import Annotated

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame
from analysis.circuits import edge_sets, sequences
from analysis.circuits.order import draw_comparison, measure_order
from analysis.drawing import style
from analysis.members.member import Member, member_of, require_attention
from analysis.members.point import name_point
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run
from anchorjax.tasks.solution import SOLVED, UNSEEN_MAPPINGS

TITLE = 'Order of the pair'
PAPER = 'ours'
CAPTION = (
    'Can a network tell a pair from its reverse where it answers? The distance '
    'between its activations for the two is divided by that between pairs with '
    'another anchor, and drawn through training and beside its answers. At 0 the '
    'order is not there, so that both get one answer.'
)


# What is drawn for 0, and for everything below.
_LOWEST = 1e-5
_NEITHER = 'neither'


def compute(
    run: Run,
    every: Annotated[bool, 'True: also what has not converged'] = False,
    number: Annotated[int, at_least(1), at_most(100_000), 'random sequences'] = 1024,
) -> pd.DataFrame:
    """Measures the order in every snapshot of every converged member.

    Returns:
      A row per member (`point`: 'gamma=0.6,seed=0'), snapshot (`step`) and layer (from
      1): the `order` after its attention, NaN where the anchors make no difference at
      all. The same in all rows of a member: whether it has converged, and its answers
      to the unseen pairs, of the eval set's sequences that end in noise, or of all if
      there are none. In all rows: how many trained members are left_out.

    Raises:
      UserError: there is no such member, a task is not the anchor task with an unseen
        pair and at least three anchors, or a model has no attention.
    """
    usable = frame.list_usable(run, 'anchors')
    chosen = usable if every else usable[usable.converged]
    if not len(chosen):
        raise UserError('no member has converged')
    rows = []
    for place, member in frame.open_networks(run, chosen, 'order of the pair'):
        of_member = {
            'point': name_point(run, member.point),
            'converged': chosen.converged[place],
            **_share_answers(member),
        }
        require_attention(member)
        comparison = draw_comparison(member, number)
        for step in run.steps(**member.point):
            at_step = member_of(run, step, **member.point)
            order_N = measure_order(at_step, comparison)
            for layer, order in enumerate(order_N.tolist(), start=1):
                rows.append({**of_member, 'step': step, 'layer': layer, 'order': order})
    return pd.DataFrame(rows).assign(left_out=len(usable) - len(chosen))


def draw(orders: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: order during training, and at its end beside the answers."""
    curves, ends = axes[0]
    for _, network in orders.groupby('point', sort=False):
        in_last_layer = network[network.layer == network.layer.max()]
        shown = in_last_layer.order.clip(lower=_LOWEST)
        last = in_last_layer.iloc[-1]
        colour = style.COLOURS[_name_kind(last)]
        line, marker = ('.-', 'o') if last.converged else ('.--', 'x')
        curves.plot(in_last_layer.step, shown, line, ms=3, lw=0.8, color=colour)
        look = {'ms': 4, 'mfc': 'none', 'color': colour}
        ends.plot(last.symmetric, shown.iloc[-1], marker, **look)
    curves.set(yscale='log', xlabel='step', ylabel='order of the pair, last layer')
    curves.set_title(
        'during training; 0: exchanged anchors change nothing\n'
        f'{orders.left_out.iloc[0]} not converged, left out'
    )
    _label_ends(ends)


layout = style.Layout(1, 2, 7.0, 2.8)


def _label_ends(axis: Axes) -> None:
    for kind in (*UNSEEN_MAPPINGS, _NEITHER):
        label = f'{kind} in at least {SOLVED:g}' if kind != _NEITHER else 'neither'
        colour = style.COLOURS[kind]
        axis.plot([], [], 'o', mfc='none', color=colour, label=label)
    axis.set(yscale='log', xlabel='answers as the reverse', xlim=(-0.05, 1.05))
    axis.set_title('at the end')
    axis.legend()


def _share_answers(member: Member) -> dict[str, float]:
    """Shares of UNSEEN_MAPPINGS among the answers to the eval set of unseen pairs."""
    sequences.require_unseen_pair(member)
    ablation = edge_sets.prepare_ablation(member)
    intact = edge_sets.measure_effects(ablation, [ablation.edges]).agreement
    shares = intact.isel(set=0).sel(eval_set='unseen', mapping=list(UNSEEN_MAPPINGS))
    return shares.to_series().to_dict()


def _name_kind(network: pd.Series) -> str:
    """The mapping that gives most answers, if it gives enough of them."""
    best = max(UNSEEN_MAPPINGS, key=lambda mapping: network[mapping])
    return best if network[best] >= SOLVED else _NEITHER
