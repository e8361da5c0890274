"""The fields of the transformer and every value they may take (PAPERS 1.2, 3.2)."""

import dataclasses

from anchorjax.errors import require

NORMS = ('post', 'pre', 'pre_query')
ACTIVATIONS = ('relu', 'gelu')
INITS = ('d_in', 'd_model', 'gpt2_hf')
# Far beyond what a device holds; what fits is measured later, by compiling.
_WIDTHS = ('width', 'heads', 'head_dim', 'mlp_dim', 'max_len')
SIZES = {'depth': 1_000, **dict.fromkeys(_WIDTHS, 2**16)}


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
    norm: str = (
        'post'  # 'pre': GPT-2; 'pre_query': P3, keys and values read the raw stream
    )
    activation: str = 'relu'  # 'gelu' is the exact one
    biases: bool = False  # on every linear map, not only the output projection
    init: str = 'd_in'  # what gamma acts on; see initializers
    residual_scale: bool = False  # std of W_O and W_out times 1/sqrt(2 depth) (P3)
    eps: float = 1e-5  # of LayerNorm

    def __post_init__(self):
        for field, most in SIZES.items():
            value = getattr(self, field)
            require(
                1 <= value <= most,
                f'model.{field}',
                value,
                f'at least 1, at most {most:,}',
            )
        choices = (('norm', NORMS), ('activation', ACTIVATIONS), ('init', INITS))
        for field, allowed in choices:
            value = getattr(self, field)
            require(value in allowed, f'model.{field}', value, f'one of {allowed}')
        require(self.eps > 0, 'model.eps', self.eps, 'positive')
