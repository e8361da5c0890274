"""Which position reads which: attention as lines between the tokens of every layer.

P1 Fig 3 (a, c) reads two mechanisms off one sequence:

  symmetric    layer 1: both anchors → last token    layer 2: key → last token
  inferential  layer 1: key → both anchors           layer 2: anchors → last token

Here the same flows are also averaged over many sequences, beside those of attention
that chooses nothing and of the same network before training. `analysis/p1/causal.py`
tests them.

  python -m analysis attention_flow --run runs/phase --gamma=1.7 --seed=0
"""

from typing import Annotated, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.circuits import flows, sequences
from analysis.circuits.flows import FLOWS
from analysis.drawing import style
from analysis.members.member import Member, make_untrained, require_attention
from anchorjax.limits import at_least, at_most

TITLE = 'Attention flow'
PAPER = 'P1 Fig 3 (a, c)'
CAPTION = (
    'The lines show which token reads which, from the input below to the last layer '
    'above. A wide line is much attention, on one sequence; the bars are means over '
    'random sequences.'
)


_FLOW_COLOURS = (style.ROLES['key'], style.ROLES['anchor_1'], '#56B4E9')


class Result(NamedTuple):
    """Attention on one sequence, and its mean over `number` random ones."""

    tokens_T: np.ndarray  # of the one sequence
    roles_T: np.ndarray  # index into role_names
    role_names: tuple[str, ...]
    Attn_NTT: np.ndarray  # of that sequence: [layer, reader, source], mean over heads
    prediction: int
    expected: dict[str, int]  # answer by mapping
    mass_NJJ: np.ndarray  # of the random ones, by flows.average_attention
    flows_N3: np.ndarray  # of the random ones: [layer, FLOWS]
    uniform_N3: np.ndarray  # the same if a position reads all up to itself equally
    untrained_N3: np.ndarray  # the same before training; NaN if that is not known
    number: int


def compute(
    member: Member,
    tokens: Annotated[
        tuple[int, ...] | None, "of one sequence, 35,63,...; default: P1's"
    ] = None,
    number: Annotated[
        int, at_least(1), at_most(100_000), 'random sequences to average over'
    ] = 4096,
) -> Result:
    """Attention on one sequence and, by role, on `number` random ones.

    Args:
      tokens: the one sequence, the paper's by default.

    Raises:
      UserError: the member's task is not the anchor task, `tokens` do not fit it, or
        its model has no attention.
    """
    if tokens is None:
        tokens = sequences.fit_paper_sequence(member)
    tokens_T = sequences.check_tokens(member, tokens)
    require_attention(member)
    roles_T = member.roles(tokens_T[None])[0]
    activations = member.forward(tokens_T[None])
    attention = [block.Attn[0].mean(0) for block in activations.blocks]

    random_BT = sequences.sample(member, number).tokens_BT
    mass_NJJ = flows.average_attention(member, random_BT)
    flows_N3 = flows.measure_flows(mass_NJJ, member.task.role_names)
    return Result(
        tokens_T=tokens_T,
        roles_T=roles_T,
        role_names=member.task.role_names,
        Attn_NTT=np.stack(attention),
        prediction=int(activations.logits[0, -1].argmax()),
        expected=_list_answers(member, tokens_T, roles_T),
        mass_NJJ=mass_NJJ,
        flows_N3=flows_N3,
        uniform_N3=_measure_uniform_flows(member, random_BT, len(flows_N3)),
        untrained_N3=_measure_untrained_flows(member, random_BT, len(flows_N3)),
        number=number,
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: the sequence's attention as lines, and the flows by layer."""
    _draw_sequence(axes[0, 0], result)
    _draw_flows(axes[0, 1], result)


layout = style.Layout(1, 2, 7.0, 2.4)


def _measure_uniform_flows(
    member: Member, random_BT: np.ndarray, layers: int
) -> np.ndarray:
    """[layer, FLOWS] of attention that chooses nothing: the same in every layer."""
    mass_JJ = flows.average_uniform_attention(member, random_BT)
    flows_13 = flows.measure_flows(mass_JJ[None], member.task.role_names)
    return np.repeat(flows_13, layers, axis=0)


def _measure_untrained_flows(
    member: Member, random_BT: np.ndarray, layers: int
) -> np.ndarray:
    """[layer, FLOWS] of the member at initialization; NaN if that is not known."""
    untrained = make_untrained(member)
    if untrained is None:
        return np.full((layers, len(FLOWS)), np.nan)
    mass_NJJ = flows.average_attention(untrained, random_BT)
    return flows.measure_flows(mass_NJJ, member.task.role_names)


def _list_answers(
    member: Member, tokens_T: np.ndarray, roles_T: np.ndarray
) -> dict[str, int]:
    """{mapping: answer} to one sequence."""
    token_of = {}  # {role: token}, of noise the last
    for token, role in zip(tokens_T.tolist(), roles_T, strict=True):
        name = member.task.role_names[role]
        token_of[name] = token
    x = token_of['key']
    pair = (token_of['anchor_1'], token_of['anchor_2'])
    shifts_of = sequences.tabulate_shifts(member)
    answers = {}
    for mapping, shift in shifts_of[pair].items():
        answers[mapping] = x + shift
    return answers


def _draw_sequence(axis: Axes, result: Result) -> None:
    """Nodes are tokens, one row a layer; a line's width is the attention paid."""
    layers, length, _ = result.Attn_NTT.shape
    colours = []
    for role in result.roles_T:
        name = result.role_names[role]
        colours.append(style.ROLES[name])
    for n, reader, source in np.ndindex(result.Attn_NTT.shape):
        if source > reader:  # causal attention
            continue
        axis.plot(
            [source, reader],
            [n, n + 1],
            lw=3.5 * result.Attn_NTT[n, reader, source],
            color=colours[source],
            alpha=0.8,
            zorder=1,
        )
    rows = range(layers + 1)
    for t, colour in enumerate(colours):
        column = [t] * len(rows)
        axis.plot(column, rows, 'o', ms=5, color=colour, zorder=2)
        token = str(result.tokens_T[t])
        _write_bold(axis, t, -0.2, token, ha='center', va='top', color=colour)
    answer = _name_answer(result)
    above = layers + 0.18
    _write_bold(axis, length - 1, above, answer, ha='right', va='bottom')

    axis.set_yticks(rows, ['input', *_name_layers(layers)])
    axis.set_ylim(-0.5, layers + 0.5)
    axis.set_xlim(-0.6, length - 0.4)
    axis.set_xticks([])
    axis.spines[['left', 'bottom']].set_visible(False)


def _name_layers(count: int) -> list[str]:
    return [f'layer {n + 1}' for n in range(count)]


def _write_bold(axis: Axes, x: float, y: float, text: str, **kwargs: str) -> None:
    axis.text(x, y, text, fontweight='bold', **kwargs)


def _name_answer(result: Result) -> str:
    """'93 (symmetric)': the prediction, and the first mapping that gives the same."""
    for mapping, answer in result.expected.items():
        if answer == result.prediction:
            return f'{answer} ({mapping})'
    return str(result.prediction)


def _draw_flows(axis: Axes, result: Result) -> None:
    """Three bars a layer, one for each of FLOWS, with a mark for each null."""
    layers = np.arange(len(result.flows_N3))
    half = 0.11  # of the width of a bar
    for i, name in enumerate(FLOWS):
        x = layers + (i - 1) / 4
        colour = _FLOW_COLOURS[i]
        axis.bar(x, result.flows_N3[:, i], 2 * half, label=name, color=colour)
        axis.hlines(result.uniform_N3[:, i], x - half, x + half, color='k', lw=1.2)
        axis.plot(x, result.untrained_N3[:, i], 'kx', ms=4)
    axis.plot([], [], color='k', lw=1.2, label='uniform')
    axis.plot([], [], 'kx', ms=4, label='untrained')
    axis.set_xticks(layers, _name_layers(len(layers)))
    axis.set_ylim(0, 1)
    axis.set_ylabel('attention')
    axis.set_title(f'mean of {result.number:,} sequences')
    axis.legend(loc='upper left', bbox_to_anchor=(1, 1))
