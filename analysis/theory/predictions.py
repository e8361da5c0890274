"""What gradient flow predicts of the embeddings of a network that starts small (P2).

At a small start all labels are equally likely, so that the gradient sees of a sequence
its label minus 1/V (PAPERS 2.4). Predicted cosines of two tokens are those of

label law    P_s - 1/V, counted in the member's own data (P2 Fig 4 B, C): the map to the
             embedding is taken for one that keeps angles
matrices     the velocity dw_s/dt through the member's own matrices at initialization;
             none for a transformer of two layers, of which P2 has no such equation
closed form  P2's profile (Fig 5 C, D), for reasoning anchors and keys only
"""

import numpy as np

from analysis.spectra import cosines
from analysis.theory.label_law import LabelLaws, count_laws, read_examples
from anchorjax.caching import cache
from anchorjax.models.emb_mlp import EmbMLPConfig
from anchorjax.models.one_layer import OneLayerConfig
from anchorjax.network import Network
from anchorjax.tasks import TaskConfig

PREDICTIONS = ('label law', 'matrices', 'closed form')
# The derivative at 0 of the activations; of ReLU, the mean of both sides. P2 assumes 1.
_SLOPES = {'tanh': 1.0, 'identity': 1.0, 'gelu': 0.5, 'relu': 0.5}


def predict_cosines(
    start: Network, tokens_A: np.ndarray, kind: str
) -> dict[str, np.ndarray]:
    """Cosines [A, A] by those of PREDICTIONS that there are.

    Args:
      start: the member at initialization.
      kind: of the tokens: 'memory', 'reasoning', 'both' or 'keys'.
    """
    laws, _ = count_member_laws(start.experiment.task, start.point['seed'])
    found = {'label law': cosines(laws.deviation_VV[tokens_A])}
    velocity_VD = predict_velocity(start)
    if velocity_VD is not None:
        found['matrices'] = cosines(velocity_VD[tokens_A])
    if kind in ('reasoning', 'keys'):
        width = start.experiment.task.vocab
        profiles = profile(tokens_A, kind == 'reasoning', width)
        found['closed form'] = cosines(profiles)
    return found


def predict_velocity(start: Network) -> np.ndarray | None:
    """dw_s/dt of every token at initialization, [V, D]; None: P2 has no equation.

    In one layer attention is the mean (PAPERS 2.4, Lemma 1), and a token reaches the
    stream directly only where it is the last one. P2's (r_s / L) (P_s - 1/d_m)
    (W_f^T + I) (W_VO^T + I) takes it to be last in a share 1/L of its occurrences, with
    the same labels as elsewhere.
    """
    config = start.experiment.model
    laws, last_laws = count_member_laws(start.experiment.task, start.point['seed'])
    if isinstance(config, EmbMLPConfig):
        residual_VV = _SLOPES[config.activation] * laws.residual_VV
        return residual_VV @ start.matrix('W_2').T @ start.matrix('W_1').T
    if isinstance(config, OneLayerConfig):
        W_VO = start.matrix('block_0/W_V') @ start.matrix('block_0/W_O')
        W_f = start.matrix('block_0/W_in') @ start.matrix('block_0/W_out')
        to_logits = (_SLOPES[config.activation] * W_f + np.eye(len(W_f))).T
        attended_VV = laws.residual_VV / start.experiment.task.seq_len
        return attended_VV @ to_logits @ W_VO.T + last_laws.residual_VV @ to_logits
    return None


def profile(tokens: np.ndarray, are_anchors: bool, width: int) -> np.ndarray:
    """P2's closed form of embeddings in the one-layer transformer (Fig 5 C, D).

    exp(-(i - s)^2 / 12), minus 1/width for reasoning anchors, at every i, [token, D].
    """
    distance = np.arange(width) - np.asarray(tokens)[:, None]
    bell = np.exp(-(distance**2) / 12)
    return bell - 1 / width if are_anchors else bell


@cache(maxsize=8)
def count_member_laws(config: TaskConfig, seed: int) -> tuple[LabelLaws, LabelLaws]:
    """The laws of a seed's data: at all positions, and at the last one alone."""
    tokens_BT, label_B = read_examples(config, seed)
    laws = count_laws(tokens_BT, label_B, config.vocab)
    last_laws = count_laws(tokens_BT[:, -1:], label_B, config.vocab)
    return laws, last_laws
