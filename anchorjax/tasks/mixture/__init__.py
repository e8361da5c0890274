"""Two sources of text in one training set: PrOntoQA with proofs, and stories (P2)."""

from anchorjax.tasks.mixture.config import MixtureConfig
from anchorjax.tasks.mixture.task import make

__all__ = ['MixtureConfig', 'make']
