"""Where gradient flow moves small embeddings (P2; PAPERS 2.4).

At a small start all labels are equally likely, so that the gradient sees of a sequence
its label minus 1/V. Each function here returns dw_s/dt for every token s, [V, D].
"""

import numpy as np

from analysis.spectra import measures
from analysis.theory.label_law import LabelLaws


def emb_mlp_velocity(
    laws: LabelLaws, W_1: np.ndarray, W_2: np.ndarray, slope: float = 1.0
) -> np.ndarray:
    """r_s (P_s - 1/V) W_2^T W_1^T.

    Args:
      W_1: [D, F].
      W_2: [F, V].
      slope: the derivative of the activation at 0; P2 assumes 1.
    """
    return slope * laws.residual_VV @ W_2.T @ W_1.T


def one_layer_exact_velocity(
    laws: LabelLaws,
    last_laws: LabelLaws,
    seq_len: int,
    W_VO: np.ndarray,
    W_f: np.ndarray,
) -> np.ndarray:
    """r_s / L (P_s - 1/V) (W_f^T + I) W_VO^T, and the same without W_VO at the end.

    Attention is the mean, A = 1/L (PAPERS 2.4, Lemma 1), and a token reaches the stream
    directly only where it is the last one. P2's (r_s / L) (P_s - 1/d_m) (W_f^T + I)
    (W_VO^T + I) takes it to be last in a share 1/L of its occurrences, with the same
    labels as elsewhere.

    Args:
      last_laws: the laws at the last position, count_laws(tokens_BT[:, -1:], ...).
      W_VO: W_V W_O, [D, D]; D is V.
      W_f: W_in W_out, [D, D], times the derivative of the activation at 0.
    """
    to_logits = (W_f + np.eye(len(W_f))).T
    through_attention = laws.residual_VV @ to_logits @ W_VO.T / seq_len
    direct = last_laws.residual_VV @ to_logits
    return through_attention + direct


def law_cosines(laws: LabelLaws, tokens: np.ndarray) -> np.ndarray:
    """Cosines of P_s - 1/V between tokens: P2's prediction of Fig 4 (4B, C).

    It takes the map to the embedding for one that keeps angles; `predict_cosines` does
    not.
    """
    return measures.cosines(laws.deviation_VV[tokens])


def predict_cosines(
    velocity_VD: np.ndarray,
    tokens: np.ndarray,
    W_embed: np.ndarray | None = None,
    time: float = 1.0,
) -> np.ndarray:
    """Cosines between the embeddings of tokens after a time.

    Args:
      W_embed: the embeddings at time 0 [V, D]; None: zero, so that time does not count.
    """
    vectors = velocity_VD[tokens]
    if W_embed is not None:
        vectors = W_embed[tokens] + time * vectors
    return measures.cosines(vectors)


def profile(tokens: np.ndarray, are_anchors: bool, width: int) -> np.ndarray:
    """P2's closed form of embeddings in the one-layer transformer (Fig 5 C, D).

    exp(-(i - s)^2 / 12), minus 1/width for reasoning anchors, at every i, [token, D].
    """
    distance = np.arange(width) - np.asarray(tokens)[:, None]
    bell = np.exp(-(distance**2) / 12)
    return bell - 1 / width if are_anchors else bell
