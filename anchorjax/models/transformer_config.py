"""The fields of the transformer and every value they may take (PAPERS 1.2, 3.2)."""

import dataclasses
from typing import Annotated, Literal, get_args

from anchorjax.errors import require
from anchorjax.limits import YOUNG, above, at_least, at_most, check_fields
from anchorjax.models.activations import Activation
from anchorjax.models.base import require_positions

Norm = Literal['post', 'pre', 'pre_query', 'none']
Init = Literal['d_in', 'd_model', 'gpt2_hf', 'scale']
Decayed = Literal['all', 'all_but_embeddings']
Part = Literal['embed', 'qk', 'vo', 'mlp']
OwnGammas = tuple[tuple[Part, Annotated[float, at_least(-100), at_most(100)]], ...]
NORMS = get_args(Norm)
# Far beyond what a device holds; what fits is measured later, by compiling.
Depth = Annotated[int, at_least(1), at_most(1_000)]
Size = Annotated[int, at_least(1), at_most(2**16)]


@dataclasses.dataclass(frozen=True)
class TransformerConfig:
    """Defaults are P1's (PAPERS 1.2): post-norm, one head, ReLU, output bias only."""

    name: str = 'transformer'
    depth: Depth = 2
    width: Size = 400
    heads: Size = 1
    head_dim: Size = 200
    mlp_dim: Size = 1200
    max_len: Size = 20  # rows of the position table
    # 'post': P1; 'pre': GPT-2; 'pre_query': P3; 'none': P2 (see transformer.Block).
    norm: Norm = 'post'
    activation: Activation = 'relu'
    biases: bool = False  # in every linear map, not only the output projection
    init: Init = 'd_in'  # what gamma acts on; see transformer_init.py
    # Std of W_O and W_out times 1/sqrt(2 depth), as in P3; 'gpt2_hf' always does that.
    residual_scale: bool = False
    # (part, gamma) of the parts that have a gamma of their own, e.g. (('vo', 0.8),), as
    # in P3's code (PAPERS 3.1, 3.2): both embeddings and W_U; W_Q and W_K; W_V and W_O;
    # the MLP. All others have that of the member.
    own_gammas: OwnGammas = dataclasses.field(default=(), metadata=YOUNG)
    # What weight decay shrinks: everything (PAPERS 1.3), or not the tables of tokens
    # and positions (PAPERS 4.1).
    decayed: Decayed = dataclasses.field(default='all', metadata=YOUNG)
    eps: Annotated[float, above(0)] = 1e-5  # of LayerNorm

    def __post_init__(self) -> None:
        check_fields(self, 'model')
        parts = [part for part, _ in self.own_gammas]
        is_distinct = len(set(parts)) == len(parts)
        require(is_distinct, 'model.own_gammas', self.own_gammas, 'distinct parts')
        is_plain = self.init not in ('gpt2_hf', 'scale') or not parts
        allowed = f'(), with model.init = {self.init!r}'
        require(is_plain, 'model.own_gammas', self.own_gammas, allowed)

    @property
    def is_pre_norm(self) -> bool:
        """Whether LayerNorms stand before attention, MLP and output projection."""
        return self.norm in ('pre', 'pre_query')

    def require_fit(self, seq_len: int, vocab: int) -> None:
        """Raises ConfigError if the position table is shorter than a sequence."""
        require_positions(seq_len, self.max_len)


def is_decayed(config: TransformerConfig, name: str) -> bool:
    """Whether weight decay shrinks the parameters of this name: 'W_Q', 'scale'."""
    is_embedding = name in ('W_embed', 'W_pos')
    return config.decayed == 'all' or not is_embedding
