"""Baselines: one member in eager PyTorch on the CPU, one step after another.

P1's model (PAPERS 1.2) in two forms, and GPT-2 of the package transformers and as
written by hand. Every position is computed, on batches made in advance. Importing
this module raises ImportError without PyTorch and transformers.
"""

from collections.abc import Callable

import numpy as np
import torch
import transformers
from torch import nn
from torch.nn import functional

from anchorjax.experiment import Experiment
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.models.transformer import TransformerConfig

Contender = Callable[[int], None]
Forward = Callable[[torch.Tensor], torch.Tensor]  # tokens [B, T] -> logits [B, ..., V]


class P1Block(nn.Module):
    """Attention and MLP, a LayerNorm after each residual.

    Args:
      fused: attention by PyTorch's own function, not written out.
    """

    def __init__(self, model: TransformerConfig, fused: bool):
        super().__init__()
        self.heads = model.heads
        self.fused = fused
        D = model.width
        inner = model.heads * model.head_dim
        self.W_Q = nn.Linear(D, inner, bias=False)
        self.W_K = nn.Linear(D, inner, bias=False)
        self.W_V = nn.Linear(D, inner, bias=False)
        self.W_O = nn.Linear(inner, D, bias=False)
        self.W_in = nn.Linear(D, model.mlp_dim, bias=False)
        self.W_out = nn.Linear(model.mlp_dim, D, bias=False)
        self.LN_attn = nn.LayerNorm(D, eps=model.eps)
        self.LN_mlp = nn.LayerNorm(D, eps=model.eps)

    def forward(self, x: torch.Tensor, future: torch.Tensor) -> torch.Tensor:
        Q = self._split_heads(self.W_Q(x))
        K = self._split_heads(self.W_K(x))
        V = self._split_heads(self.W_V(x))
        if self.fused:
            mixed = functional.scaled_dot_product_attention(Q, K, V, is_causal=True)
        else:
            scores = Q @ K.transpose(-1, -2) / Q.shape[-1] ** 0.5
            scores = scores.masked_fill(future, -1e9)
            mixed = scores.softmax(-1) @ V
        attn_out = self.W_O(mixed.transpose(1, 2).flatten(2))
        x = self.LN_attn(x + attn_out)
        hidden = torch.relu(self.W_in(x))
        return self.LN_mlp(x + self.W_out(hidden))

    def _split_heads(self, x: torch.Tensor) -> torch.Tensor:
        """[B, T, H * K] -> [B, H, T, K]."""
        batch, length, _ = x.shape
        return x.view(batch, length, self.heads, -1).transpose(1, 2)


class P1Transformer(nn.Module):
    """Tokens [B, T] -> logits of the last position [B, V], all positions computed."""

    def __init__(self, model: TransformerConfig, vocab: int, length: int, fused: bool):
        super().__init__()
        self.embed = nn.Embedding(vocab, model.width)
        self.pos = nn.Embedding(model.max_len, model.width)
        self.blocks = nn.ModuleList(P1Block(model, fused) for _ in range(model.depth))
        self.unembed = nn.Linear(model.width, vocab)
        self.positions = torch.arange(length)
        self.future = torch.ones(length, length, dtype=torch.bool).triu(1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens) + self.pos(self.positions)
        for block in self.blocks:
            x = block(x, self.future)
        return self.unembed(x)[:, -1]


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
        # Logits of PyTorch's default, N(0, 1), are so large that denormal numbers in
        # the gradients halve the speed on a CPU.
        nn.init.normal_(self.wte.weight, std=0.02)

    def forward(self, tokens_BT: torch.Tensor) -> torch.Tensor:
        positions_T = torch.arange(tokens_BT.shape[1])
        x = self.wte(tokens_BT) + self.wpe(positions_T)
        for block in self.h:
            x = block(x)
        return functional.linear(self.ln_f(x), self.wte.weight)


def make_hugging_face(config: GPT2Config, vocab: int) -> nn.Module:
    """GPT2LMHeadModel of transformers, without dropout."""
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


def prepare_p1(
    experiment: Experiment, tokens_NBT: np.ndarray, labels_NB: np.ndarray
) -> dict[str, Contender]:
    """P1's model as the authors' scripts write it, and by PyTorch's fused functions."""
    contenders = {}
    for name, fused in (('PyTorch eager', False), ('PyTorch eager, fused', True)):
        network = P1Transformer(
            experiment.model, experiment.task.vocab, experiment.task.seq_len, fused
        )
        contenders[name] = _prepare(
            experiment, network, network, tokens_NBT, labels_NB, fused
        )
    return contenders


def prepare_gpt2(
    experiment: Experiment, tokens_NBT: np.ndarray, labels_NBT: np.ndarray
) -> dict[str, Contender]:
    """GPT-2 of transformers, and as written by hand."""
    vocab = experiment.task.vocab
    theirs = make_hugging_face(experiment.model, vocab)
    plain = PlainGPT2(experiment.model, vocab)

    def run_theirs(tokens_BT: torch.Tensor) -> torch.Tensor:
        return theirs(tokens_BT).logits

    forms = {'transformers': (theirs, run_theirs), 'plain PyTorch': (plain, plain)}
    contenders = {}
    for name, (network, forward) in forms.items():
        contenders[name] = _prepare(
            experiment, network, forward, tokens_NBT, labels_NBT, fused=False
        )
    return contenders


def _prepare(
    experiment: Experiment,
    network: nn.Module,
    forward: Forward,
    tokens: np.ndarray,
    labels: np.ndarray,
    fused: bool,
) -> Contender:
    """A function that trains a network for a number of steps.

    Args:
      fused: AdamW in one kernel for all parameters.
    """
    tokens_NBT = torch.as_tensor(tokens)
    labels = torch.as_tensor(labels)
    parameters = list(network.parameters())
    adamw = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.01, fused=fused)

    def train(num_steps: int) -> None:
        for i in range(num_steps):
            batch = i % len(tokens_NBT)
            adamw.zero_grad()
            logits = forward(tokens_NBT[batch]).flatten(0, -2)
            loss = functional.cross_entropy(logits, labels[batch].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, experiment.optimizer.clip_norm)
            adamw.step()

    return train
