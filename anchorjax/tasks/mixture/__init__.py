"""Two sources of text in one training set: PrOntoQA with proofs, and stories (P2)."""

from anchorjax.tasks.mixture.task import MixtureConfig, make

__all__ = ['MixtureConfig', 'make']
