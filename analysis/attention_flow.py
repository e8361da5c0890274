"""Which position reads which: attention as lines between the tokens of every layer (P1 Fig 3 a, c).

The paper reads two mechanisms off one sequence: symmetric, both anchors -> last token in layer 1
and key -> last in layer 2; inferential, key -> both anchors in layer 1 and anchors -> last in layer
2. The numbers here average the same flows over many sequences; `causal` tests them.

  python analysis/attention_flow.py --run runs/phase --depth=2 --gamma=1.5 --seed=0
"""

from typing import NamedTuple

import numpy as np

from analysis.circuits import sequences
from analysis.drawing import command, style
from analysis.members.member import Member

FLOWS = ('key → anchors', 'anchors → last', 'key → last')


class Result(NamedTuple):
    """Attention from position k to position j is what j takes from k: Attn[.., j, k]."""

    tokens_T: np.ndarray
    roles_T: np.ndarray  # index into role_names
    role_names: tuple[str, ...]
    Attn_NTT: np.ndarray  # of that sequence, mean over heads
    prediction: int
    expected: dict[str, int]  # answer by mapping
    mass_NJJ: (
        np.ndarray
    )  # [layer, source role, target role], mean over `number` sequences
    flows_N3: np.ndarray  # along FLOWS
    number: int


def compute(member: Member, tokens=None, number: int = 4096) -> Result:
    """Attention on one sequence (default: the paper's) and, by role, on `number` random ones.

    mass[n, r, q] is the attention that a position of role q pays to all positions of role r: the
    sources of a target sum to one. 'key → anchors' is the mean over both anchors as targets,
    'anchors → last' the sum over both as sources.
    """
    tokens = sequences.paper(member) if tokens is None else tokens
    tokens_T = sequences.check(member, tokens)
    out = member.forward(tokens_T[None])
    position = int(member.roles(tokens_T[None])[0].argmin())
    shifts = sequences.shifts(member)[
        tuple(map(int, tokens_T[position + 1 : position + 3]))
    ]
    mass_NJJ = _mass(member, sequences.random(member, number).tokens_BT)
    return Result(
        tokens_T=tokens_T,
        roles_T=member.roles(tokens_T[None])[0],
        role_names=member.task.role_names,
        Attn_NTT=np.stack([block.Attn[0].mean(0) for block in out.blocks]),
        prediction=int(out.logits[0, -1].argmax()),
        expected={
            mapping: int(tokens_T[position]) + s for mapping, s in shifts.items()
        },
        mass_NJJ=mass_NJJ,
        flows_N3=_flows(mass_NJJ, member.task.role_names),
        number=number,
    )


def draw(result: Result, axes) -> None:
    """Fills axes [1, 2]: the sequence's attention as lines, and the flows by layer."""
    _lines(axes[0, 0], result)
    layers = np.arange(len(result.flows_N3))
    for i, (name, colour) in enumerate(zip(FLOWS, _FLOW_COLOURS, strict=True)):
        place = layers + (i - 1) / 4
        axes[0, 1].bar(place, result.flows_N3[:, i], 0.22, label=name, color=colour)
    axes[0, 1].set_xticks(layers, [f'layer {n + 1}' for n in layers])
    axes[0, 1].set(
        ylim=(0, 1), ylabel='attention', title=f'mean of {result.number:,} sequences'
    )
    axes[0, 1].legend()


_FLOW_COLOURS = (style.ROLES['key'], style.ROLES['anchor_1'], '#56B4E9')


def _mass(member: Member, tokens_BT) -> np.ndarray:
    """[layer, source role, target role]: mean over sequences that have the target."""
    roles_BT = member.roles(tokens_BT)
    one_hot = (roles_BT[..., None] == np.arange(len(member.task.role_names))).astype(
        np.float32
    )
    blocks = member.forward(tokens_BT).blocks
    paid = [
        np.einsum('bjk,bkr,bjq->rq', b.Attn.mean(1), one_hot, one_hot) for b in blocks
    ]
    with np.errstate(invalid='ignore'):
        return np.stack(paid) / one_hot.sum((0, 1))  # NaN for a role that never occurs


def _flows(mass_NJJ, role_names) -> np.ndarray:
    key, last = role_names.index('key'), role_names.index('last')
    anchors = [role_names.index('anchor_1'), role_names.index('anchor_2')]
    key_to_anchors = mass_NJJ[:, key, anchors].mean(-1)
    anchors_to_last = mass_NJJ[:, anchors, last].sum(-1)
    return np.stack([key_to_anchors, anchors_to_last, mass_NJJ[:, key, last]], axis=-1)


def _lines(axis, result: Result) -> None:
    """Nodes are tokens, one row a layer; a line's width is the attention paid."""
    layers, length = len(result.Attn_NTT), len(result.tokens_T)
    for n, j, k in np.ndindex(result.Attn_NTT.shape):
        if k <= j:
            weight = result.Attn_NTT[n, j, k]
            colour = style.ROLES[result.role_names[result.roles_T[k]]]
            axis.plot(
                [k, j], [n, n + 1], lw=3.5 * weight, color=colour, alpha=0.8, zorder=1
            )
    for t, token in enumerate(result.tokens_T):
        colour = style.ROLES[result.role_names[result.roles_T[t]]]
        axis.plot(
            [t] * (layers + 1), range(layers + 1), 'o', ms=5, color=colour, zorder=2
        )
        axis.text(
            t, -0.2, str(token), ha='center', va='top', color=colour, fontweight='bold'
        )
    agrees = [m for m, answer in result.expected.items() if answer == result.prediction]
    said = f'{result.prediction} ({agrees[0]})' if agrees else f'{result.prediction}'
    axis.text(
        length - 1, layers + 0.18, said, ha='right', va='bottom', fontweight='bold'
    )
    axis.set(ylim=(-0.5, layers + 0.5), xlim=(-0.6, length - 0.4), xticks=[])
    axis.set_yticks(
        range(layers + 1), ['input', *(f'layer {n + 1}' for n in range(layers))]
    )
    axis.spines[['left', 'bottom']].set_visible(False)


layout = style.Layout(1, 2, 7.0, 2.4)

if __name__ == '__main__':
    command.member(
        __doc__,
        'attention_flow',
        compute,
        draw,
        layout,
        tokens=command.Flag(
            command.numbers, None, "tokens of the sequence, 35,63,...; P1's"
        ),
        number=command.Flag(int, 4096, 'random sequences to average over'),
    )
