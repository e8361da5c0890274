"""Baselines: one GPT-2 in PyTorch, Hugging Face's or as written by hand.

Both train as the official code of P1 does (PAPERS 1.6): AdamW on everything but biases,
one member at a time, on batches made in advance. Importing this module raises
ImportError where PyTorch is not installed.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from anchorjax.bench.batches import NUM_BATCHES
from anchorjax.experiment import Experiment
from anchorjax.models import GPT2Config


class PlainBlock(nn.Module):
    """x + attention(LN(x)), then x + MLP(LN(x)), with PyTorch's own attention."""

    def __init__(self, config: GPT2Config):
        super().__init__()
        self.heads = config.heads
        self.ln_1 = nn.LayerNorm(config.width, eps=config.eps)
        self.attn = nn.Module()
        self.attn.c_attn = nn.Linear(config.width, 3 * config.width)
        self.attn.c_proj = nn.Linear(config.width, config.width)
        self.ln_2 = nn.LayerNorm(config.width, eps=config.eps)
        self.mlp = nn.Module()
        self.mlp.c_fc = nn.Linear(config.width, config.mlp_dim)
        self.mlp.c_proj = nn.Linear(config.mlp_dim, config.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self._attend(self.ln_1(x))
        hidden = functional.gelu(self.mlp.c_fc(self.ln_2(x)), approximate='tanh')
        return x + self.mlp.c_proj(hidden)

    def _attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        heads = []
        for part in self.attn.c_attn(x).split(width, dim=-1):
            split = part.view(batch, length, self.heads, -1)
            heads.append(split.transpose(1, 2))
        mixed = functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.attn.c_proj(mixed.transpose(1, 2).flatten(2))


class PlainGPT2(nn.Module):
    """Tokens [B, T] -> logits [B, T, V]; the names are Hugging Face's."""

    def __init__(self, config: GPT2Config, vocab: int):
        super().__init__()
        self.wte = nn.Embedding(vocab, config.width)
        self.wpe = nn.Embedding(config.max_len, config.width)
        self.h = nn.ModuleList()
        for _ in range(config.depth):
            self.h.append(PlainBlock(config))
        self.ln_f = nn.LayerNorm(config.width, eps=config.eps)

    def forward(self, tokens_BT: torch.Tensor) -> torch.Tensor:
        positions_T = torch.arange(tokens_BT.shape[1])
        x = self.wte(tokens_BT) + self.wpe(positions_T)
        for block in self.h:
            x = block(x)
        return functional.linear(self.ln_f(x), self.wte.weight)


def make_hugging_face(config: GPT2Config, vocab: int) -> nn.Module:
    """GPT2LMHeadModel without dropout; raises ImportError without transformers."""
    import transformers

    theirs = transformers.GPT2Config(
        vocab_size=vocab,
        n_positions=config.max_len,
        n_embd=config.width,
        n_layer=config.depth,
        n_head=config.heads,
        layer_norm_epsilon=config.eps,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        use_cache=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.GPT2LMHeadModel(theirs)


def prepare_plain(experiment: Experiment) -> Callable[[int], None]:
    """A function that trains one member, as written by hand, for a number of steps."""
    network = PlainGPT2(experiment.model, experiment.task.vocab)
    return _prepare(experiment, network, network)


def prepare_hugging_face(experiment: Experiment) -> Callable[[int], None]:
    """The same for Hugging Face's; raises ImportError without transformers."""
    network = make_hugging_face(experiment.model, experiment.task.vocab)

    def compute_logits(tokens_BT: torch.Tensor) -> torch.Tensor:
        return network(tokens_BT).logits

    return _prepare(experiment, network, compute_logits)


def _prepare(
    experiment: Experiment,
    network: nn.Module,
    compute_logits: Callable[[torch.Tensor], torch.Tensor],
) -> Callable[[int], None]:
    size = (NUM_BATCHES, experiment.train.batch_size, experiment.task.seq_len)
    tokens = np.random.default_rng(0).integers(0, experiment.task.vocab, size)
    tokens_NBT = torch.as_tensor(tokens)
    adamw = torch.optim.AdamW(_group_parameters(network), lr=1e-4)

    def train(num_steps: int) -> None:
        for i in range(num_steps):
            tokens_BT = tokens_NBT[i % NUM_BATCHES]
            adamw.zero_grad()
            logits = compute_logits(tokens_BT)[:, :-1]
            targets = tokens_BT[:, 1:]
            loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
            loss.backward()
            clip_norm = experiment.optimizer.clip_norm
            nn.utils.clip_grad_norm_(network.parameters(), clip_norm)
            adamw.step()

    return train


def _group_parameters(network: nn.Module) -> list[dict]:
    """Parameters for AdamW: biases do not decay."""
    biases, others = [], []
    for name, parameter in network.named_parameters():
        group = biases if name.endswith('bias') else others
        group.append(parameter)
    return [
        {'params': others, 'weight_decay': 0.01},
        {'params': biases, 'weight_decay': 0.0},
    ]
