"""The fields of GPT-2, its sizes, and which parameters weight decay shrinks."""

import dataclasses
from typing import Annotated, Literal

from anchorjax.errors import require
from anchorjax.limits import YOUNG, above, at_least, check_fields
from anchorjax.models.base import require_positions
from anchorjax.models.transformer_config import Depth, Size

Decayed = Literal['all_but_biases', 'matrices', 'all']


@dataclasses.dataclass(frozen=True)
class GPT2Config:
    """Defaults are GPT-2 small (PAPERS 1.6); every matrix is drawn by its true fan-in.

    residual_init = 'scaled' has GPT-2's own factor, 'plain' is the text of P1 and P2.
    The options of the official code of P1 (PAPERS 1.6, quirk 11) are fan = 'out',
    residual_init = 'overwritten' and embed_init = 'fixed'; see gpt2_init.py.
    """

    name: str = 'gpt2'
    depth: Depth = 12
    width: Size = 768
    heads: Size = 12  # of width / heads each
    max_len: Size = 1024  # rows of the position table
    fan: Literal['in', 'out'] = 'in'  # which side of a matrix is d in d^-gamma
    residual_init: Literal['scaled', 'plain', 'overwritten'] = 'scaled'
    embed_init: Literal['gamma', 'fixed'] = 'gamma'
    # What weight decay shrinks; by default as in P1's GPT-2 code (PAPERS 1.6).
    decayed: Decayed = 'all_but_biases'
    # 'fused' leaves the kernel to jax.nn, 'cudnn' is flash attention on an NVIDIA GPU
    # (elsewhere as 'fused'), 'explicit' is the formula, which interventions always use.
    attention: Literal['fused', 'cudnn', 'explicit'] = 'fused'
    # Of matrix products and what is between them. Parameters, the residual stream,
    # LayerNorm, softmax and logits are float32.
    dtype: Literal['float32', 'bfloat16'] = 'float32'
    # Compute blocks again in the backward pass, to save memory. (XLA's scheduler for
    # CPUs computes them again too early to save much.)
    remat: bool = False
    eps: Annotated[float, above(0)] = 1e-5  # of LayerNorm
    # Weights to start from: a safetensors file of Hugging Face's GPT-2, or its folder.
    # '': weights are drawn. gamma has no effect then.
    start: str = dataclasses.field(default='', metadata=YOUNG)
    # The SHA-256 of that file; '': any.
    start_sha256: str = dataclasses.field(default='', metadata=YOUNG)
    # The row of its embedding for each token of the task; (): all rows, in order.
    start_rows: tuple[Annotated[int, at_least(0)], ...] = dataclasses.field(
        default=(), metadata=YOUNG
    )

    def __post_init__(self) -> None:
        check_fields(self, 'model')
        allowed = f'a divisor of model.width, {self.width}'
        require(self.width % self.heads == 0, 'model.heads', self.heads, allowed)
        if self.attention == 'cudnn':
            self._require_fit_for_cudnn()

    def _require_fit_for_cudnn(self) -> None:
        allowed = "'bfloat16' with model.attention = 'cudnn'"
        require(self.dtype == 'bfloat16', 'model.dtype', self.dtype, allowed)
        fits = self.head_dim % 8 == 0 and self.head_dim <= 128
        allowed = (
            'such that model.width / model.heads is a multiple of 8, at most 128, with '
            f"model.attention = 'cudnn'; it is {self.head_dim}"
        )
        require(fits, 'model.heads', self.heads, allowed)

    @property
    def head_dim(self) -> int:
        """Width of a head, K."""
        return self.width // self.heads

    @property
    def mlp_dim(self) -> int:
        """Neurons of the MLP, F."""
        return 4 * self.width

    def require_fit(self, seq_len: int, vocab: int) -> None:
        """Raises ConfigError if the position table is shorter than a sequence."""
        require_positions(seq_len, self.max_len)


# 'small' and 'medium' are official: 124,439,808 and 354,823,168 parameters with 50,257
# tokens. 'tiny' has the 2 layers and 1 head of P1's smallest model (PAPERS 1.6); its
# width is ours, chosen for a CPU.
SIZES = {
    'tiny': GPT2Config(depth=2, width=128, heads=1, max_len=256),
    'small': GPT2Config(),
    'medium': GPT2Config(depth=24, width=1024, heads=16),
}


def is_decayed(config: GPT2Config, name: str) -> bool:
    """Whether weight decay shrinks the parameters of this name: 'W_Q', 'b_Q', 'scale'.

    'all_but_biases' shrinks the scales of LayerNorm too; 'matrices' does not.
    """
    if config.decayed == 'all':
        return True
    if config.decayed == 'matrices':
        return name.startswith('W_')
    return name != 'bias' and not name.startswith('b_')
