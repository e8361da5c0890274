"""What the theory predicts of the cosines between embeddings, for one member (P2).

label law    cosines of P_s - 1/V, counted in the member's own data (P2 Fig 4 B, C)
matrices     cosines of the velocity of gradient flow through the member's own W_1 and
             W_2 (or W_V W_O and W_in W_out) at initialization; none for a transformer
             of two layers, of which P2 has no such equation
closed form  cosines of P2's profile exp(-(i - s)^2 / 12) (Fig 5 C, D), which is for
             reasoning anchors and keys only
"""

import functools

import numpy as np

from analysis.members.member import Member
from analysis.theory import gradient_flow
from analysis.theory.label_law import LabelLaws, count_laws, read_examples
from anchorjax.tasks import TaskConfig

PREDICTIONS = ('label law', 'matrices', 'closed form')
# The derivative at 0 of the activations; of ReLU, the mean of both sides.
_SLOPES = {'tanh': 1.0, 'identity': 1.0, 'gelu': 0.5, 'relu': 0.5}


def predict_all(
    start: Member, tokens_A: np.ndarray, kind: str
) -> dict[str, np.ndarray | None]:
    """Cosines [A, A] by each of PREDICTIONS; None where there is none.

    Args:
      start: the member at initialization.
      kind: of the tokens: 'memory', 'reasoning', 'both' or 'keys'.
    """
    laws, _ = count_member_laws(start.experiment.task, start.point['seed'])
    velocity_VD = predict_velocity(start)
    matrices = None
    if velocity_VD is not None:
        matrices = gradient_flow.predict_cosines(velocity_VD, tokens_A)
    closed_form = None
    if kind in ('reasoning', 'keys'):
        width = start.experiment.task.vocab
        rows = gradient_flow.profile(tokens_A, kind == 'reasoning', width)
        closed_form = gradient_flow.predict_cosines(rows, np.arange(len(rows)))
    return {
        'label law': gradient_flow.law_cosines(laws, tokens_A),
        'matrices': matrices,
        'closed form': closed_form,
    }


def predict_velocity(start: Member) -> np.ndarray | None:
    """dw_s/dt of every token at initialization, [V, D]; None: P2 has no equation."""
    config = start.experiment.model
    laws, last_laws = count_member_laws(start.experiment.task, start.point['seed'])
    if config.name == 'emb_mlp':
        slope = _SLOPES[config.activation]
        matrices = (start.matrix('W_1'), start.matrix('W_2'))
        return gradient_flow.emb_mlp_velocity(laws, *matrices, slope)
    if config.name == 'one_layer':
        W_VO = start.matrix('block_0/W_V') @ start.matrix('block_0/W_O')
        W_f = start.matrix('block_0/W_in') @ start.matrix('block_0/W_out')
        W_f = _SLOPES[config.activation] * W_f
        length = start.experiment.task.seq_len
        return gradient_flow.one_layer_exact_velocity(
            laws, last_laws, length, W_VO, W_f
        )
    return None


@functools.lru_cache(maxsize=8)
def count_member_laws(config: TaskConfig, seed: int) -> tuple[LabelLaws, LabelLaws]:
    """The laws of a seed's data: at all positions, and at the last one alone."""
    tokens_BT, label_B = read_examples(config, seed)
    laws = count_laws(tokens_BT, label_B, config.vocab)
    last_laws = count_laws(tokens_BT[:, -1:], label_B, config.vocab)
    return laws, last_laws
