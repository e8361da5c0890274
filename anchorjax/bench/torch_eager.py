"""Baseline: one member in eager PyTorch, the way the authors' scripts train.

P1's model (PAPERS 1.2), every position computed, one member at a time, on batches made
in advance. Importing this module raises ImportError where PyTorch is not installed.
"""

from collections.abc import Callable

import torch
from torch import nn

from anchorjax.bench.batches import NUM_BATCHES, draw_batches
from anchorjax.experiment import Experiment
from anchorjax.models import TransformerConfig


def _make_linear(d_in: int, d_out: int) -> nn.Linear:
    return nn.Linear(d_in, d_out, bias=False)


class EagerBlock(nn.Module):
    """Attention and MLP, a LayerNorm after each residual."""

    def __init__(self, model: TransformerConfig):
        super().__init__()
        self.heads = model.heads
        self.head_dim = model.head_dim
        D = model.width
        inner = model.heads * model.head_dim
        self.W_Q = _make_linear(D, inner)
        self.W_K = _make_linear(D, inner)
        self.W_V = _make_linear(D, inner)
        self.W_O = _make_linear(inner, D)
        self.W_in = _make_linear(D, model.mlp_dim)
        self.W_out = _make_linear(model.mlp_dim, D)
        self.LN_attn = nn.LayerNorm(D)
        self.LN_mlp = nn.LayerNorm(D)

    def forward(self, x: torch.Tensor, future: torch.Tensor) -> torch.Tensor:
        Q = self._split_heads(self.W_Q(x))
        K = self._split_heads(self.W_K(x))
        V = self._split_heads(self.W_V(x))
        scores = Q @ K.transpose(-1, -2) / self.head_dim**0.5
        scores = scores.masked_fill(future, -1e9)
        Attn = scores.softmax(-1)
        mixed = Attn @ V
        mixed = mixed.transpose(1, 2).flatten(2)
        attn_out = self.W_O(mixed)
        x = self.LN_attn(x + attn_out)
        hidden = torch.relu(self.W_in(x))
        mlp_out = self.W_out(hidden)
        return self.LN_mlp(x + mlp_out)

    def _split_heads(self, x: torch.Tensor) -> torch.Tensor:
        """[B, T, H * K] -> [B, H, T, K]."""
        batch, length, _ = x.shape
        heads = x.view(batch, length, self.heads, self.head_dim)
        return heads.transpose(1, 2)


class EagerTransformer(nn.Module):
    """Tokens [B, T] -> logits [B, T, V]."""

    def __init__(self, model: TransformerConfig, vocab: int):
        super().__init__()
        self.embed = nn.Embedding(vocab, model.width)
        self.pos = nn.Embedding(model.max_len, model.width)
        self.blocks = nn.ModuleList()
        for _ in range(model.depth):
            self.blocks.append(EagerBlock(model))
        self.unembed = nn.Linear(model.width, vocab)

    def forward(
        self, tokens: torch.Tensor, positions: torch.Tensor, future: torch.Tensor
    ) -> torch.Tensor:
        x = self.embed(tokens) + self.pos(positions)
        for block in self.blocks:
            x = block(x, future)
        return self.unembed(x)


def prepare_torch(experiment: Experiment) -> Callable[[int], None]:
    """A function that trains one member for a number of steps."""
    batches = draw_batches(experiment)
    tokens = torch.as_tensor(batches.tokens_NBT)
    labels = torch.as_tensor(batches.labels_NB)
    model = EagerTransformer(experiment.model, experiment.task.vocab)
    adamw = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    length = experiment.task.seq_len
    positions = torch.arange(length)
    future = torch.ones(length, length, dtype=torch.bool).triu(1)

    def train(num_steps: int) -> None:
        for i in range(num_steps):
            batch = i % NUM_BATCHES
            adamw.zero_grad()
            logits = model(tokens[batch], positions, future)
            loss = nn.functional.cross_entropy(logits[:, -1], labels[batch])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), experiment.optimizer.clip_norm)
            adamw.step()

    return train
