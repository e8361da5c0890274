"""The fields of the transformer and every value they may take (PAPERS 1.2, 3.2)."""

import dataclasses

from anchorjax.errors import require

NORMS = ('post', 'pre', 'pre_query')
ACTIVATIONS = ('relu', 'gelu')
INITS = ('d_in', 'd_model', 'gpt2_hf')


@dataclasses.dataclass(frozen=True)
class TransformerConfig:
    """Defaults are P1's (PAPERS 1.2): post-norm, one head, ReLU, no bias but the output's."""

    name: str = 'transformer'
    depth: int = 2
    width: int = 400
    heads: int = 1
    head_dim: int = 200
    mlp_dim: int = 1200
    max_len: int = 20  # rows of the position table
    norm: str = 'post'  # 'pre': GPT-2; 'pre_query': P3, keys and values read the raw stream
    activation: str = 'relu'  # 'gelu' is the exact one
    biases: bool = False  # on every linear map, not only the output projection
    init: str = 'd_in'  # what gamma acts on; see initializers
    residual_scale: bool = False  # std of W_O and W_out times 1/sqrt(2 depth) (P3)
    eps: float = 1e-5  # of LayerNorm

    def __post_init__(self):
        for field in ('depth', 'width', 'heads', 'head_dim', 'mlp_dim', 'max_len'):
            value = getattr(self, field)
            require(value >= 1, f'model.{field}', value, 'at least 1')
        choices = (('norm', NORMS), ('activation', ACTIVATIONS), ('init', INITS))
        for field, allowed in choices:
            value = getattr(self, field)
            require(value in allowed, f'model.{field}', value, f'one of {allowed}')
        require(self.eps > 0, 'model.eps', self.eps, 'positive')
