"""Which position reads which: attention as lines between the tokens of every layer.

P1 Fig 3 (a, c) reads two mechanisms off one sequence:

  symmetric    layer 1: both anchors → last token    layer 2: key → last token
  composed     layer 1: key → both anchors           layer 2: anchors → last token

Here the same flows are also averaged over many sequences, beside those of attention
that chooses nothing and of the same network before training. `analysis/p1/causal.py`
tests them.

  python -m analysis attention_flow --run runs/phase --gamma=2.04 --depth=3 --seed=0
"""

from functools import partial
from typing import Annotated

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis.circuits import flows, sequences
from analysis.drawing import style
from analysis.members.untrained import find_untrained, require_attention
from anchorjax.limits import at_least, at_most
from anchorjax.network import Network
from anchorjax.tasks import anchors

TITLE = 'Attention flow'
PAPER = 'P1 Fig 3 (a, c)'
CAPTION = (
    'The lines show which token reads which, from the input below to the last layer '
    'above. A wide line is much attention, on one sequence; the bars are means over '
    'random sequences.'
)

_FLOW_COLOURS = (style.ROLES['key'], style.ROLES['anchor_1'], '#56B4E9')


def compute(
    member: Network,
    tokens: Annotated[
        tuple[int, ...] | None, "of one sequence, 35,63,...; default: P1's"
    ] = None,
    number: Annotated[
        int, at_least(1), at_most(100_000), 'random sequences to average over'
    ] = 4096,
) -> xr.Dataset:
    """Attention on one sequence and, by role, on `number` random ones.

      token, role [position], prediction, answer [mapping]  of the one sequence
      attention [layer, position_of_reader, position]       on it, mean over heads
      mass      [layer, source, reader] of the random ones, `flows.average_attention`
      trained   [layer, flow] of the random ones, `flows.measure_flows`
      uniform   [flow] if a position reads all up to itself equally
      untrained [layer, flow] before training; NaN if that is not known

    Raises:
      UserError: the member's task is not the anchor task, `tokens` do not fit it, or
        its model has no attention.
    """
    one = read_sequence(member, tokens)
    random_BT = sequences.sample(member, number).tokens_BT
    mass = flows.average_attention(member, random_BT)
    by_chance = flows.average_uniform_attention(member, random_BT)
    trained = flows.measure_flows(mass)
    start = find_untrained(member)
    untrained = xr.full_like(trained, np.nan)
    if start is not None:
        untrained = flows.measure_flows(flows.average_attention(start, random_BT))
    return one.assign(
        mass=mass,
        trained=trained,
        uniform=flows.measure_flows(by_chance),
        untrained=untrained,
        number=number,
    )


def read_sequence(member: Network, tokens: tuple[int, ...] | None = None) -> xr.Dataset:
    """What `compute` says about the one sequence; UserError as there."""
    given = sequences.fit_paper_sequence(member) if tokens is None else tokens
    tokens_T = sequences.check_tokens(member, given)
    require_attention(member)
    roles_T = np.array(member.task.role_names)[member.roles(tokens_T[None])[0]]
    activations = member.activations(tokens_T[None])
    Attn_NTT = np.stack([block.Attn[0].mean(0) for block in activations.blocks])
    return xr.Dataset(
        {
            'token': ('position', tokens_T),
            'role': ('position', roles_T),
            'prediction': activations.logits[0, -1].argmax(),
            'answer': ('mapping', _list_answers(member, tokens_T, roles_T)),
            'attention': (('layer', 'position_of_reader', 'position'), Attn_NTT),
        },
        {'mapping': list(anchors.MAPPINGS)},
    )


def _list_answers(
    member: Network, tokens_T: np.ndarray, roles_T: np.ndarray
) -> np.ndarray:
    """The answer of every mapping to one sequence."""
    token_of = dict(zip(roles_T.tolist(), tokens_T.tolist(), strict=True))
    config = sequences.require_anchor_task(member)
    pair = anchors.find_row(config, (token_of['anchor_1'], token_of['anchor_2']))
    return token_of['key'] + anchors.list_shifts(config)[pair]


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: the sequence's attention as lines, and the flows by layer."""
    _draw_sequence(axes[0, 0], result)
    _draw_flows(axes[0, 1], result)


layout = style.Layout(1, 2, 7.0, 2.4)


def _draw_sequence(axis: Axes, result: xr.Dataset) -> None:
    """Nodes are tokens, one row a layer; a line's width is the attention paid."""
    colours = [style.ROLES[role] for role in result.role.values]
    for (n, reader, source), weight in np.ndenumerate(result.attention.values):
        if source <= reader:  # causal attention
            look = {'lw': 3.5 * weight, 'color': colours[source]}
            axis.plot([source, reader], [n, n + 1], **look, alpha=0.8, zorder=1)
    layers, length, _ = result.attention.shape
    rows = range(layers + 1)
    write = partial(axis.text, fontweight='bold')
    for t, token in enumerate(result.token.values):
        axis.plot([t] * len(rows), rows, 'o', ms=5, color=colours[t], zorder=2)
        write(t, -0.2, f'{token:.0f}', ha='center', va='top', color=colours[t])
    write(length - 1, layers + 0.18, _name_answer(result), ha='right', va='bottom')

    axis.set_yticks(rows, ['input', *_name_layers(result)])
    axis.set_ylim(-0.5, layers + 0.5)
    axis.set_xlim(-0.6, length - 0.4)
    axis.set_xticks([])
    axis.spines[['left', 'bottom']].set_visible(False)


def _name_layers(result: xr.Dataset) -> list[str]:
    return [f'layer {n}' for n in result.layer.values]


def _name_answer(result: xr.Dataset) -> str:
    """'93 (symmetric)': the prediction, and the first mapping that gives the same."""
    prediction = result.prediction.item()
    for mapping, answer in result.answer.to_series().items():
        if answer == prediction:
            return f'{prediction:.0f} ({mapping})'
    return f'{prediction:.0f}'


def _draw_flows(axis: Axes, result: xr.Dataset) -> None:
    """A bar for each flow in a layer, with a mark for each null."""
    layers = np.arange(result.sizes['layer'])
    half = 0.11  # of the width of a bar
    for i, (name, colour) in enumerate(zip(flows.FLOWS, _FLOW_COLOURS, strict=True)):
        flow = result.sel(flow=name)
        x = layers + (i - 1) / 4
        axis.bar(x, flow.trained, 2 * half, label=name, color=colour)
        axis.hlines([flow.uniform] * len(x), x - half, x + half, color='k', lw=1.2)
        axis.plot(x, flow.untrained, 'kx', ms=4)
    axis.plot([], [], color='k', lw=1.2, label='uniform')
    axis.plot([], [], 'kx', ms=4, label='untrained')
    axis.set_xticks(layers, _name_layers(result))
    axis.set_ylim(0, 1)
    axis.set_ylabel('attention')
    axis.set_title(f'mean of {result.number.item():,} sequences')
    axis.legend(loc='upper left', bbox_to_anchor=(1, 1))
