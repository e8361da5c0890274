"""The authors' network in PyTorch, from its description (PAPERS 1.2 and 3.2).

Its modules have the names that official state dicts contain. Only for tests that have
made sure that PyTorch is installed.
"""

import torch
from torch import nn

from anchorjax.models.transformer import TransformerConfig


class Attention(nn.Module):
    """Causal softmax attention by PyTorch's own operator, one head at a time."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        inner = config.heads * config.head_dim
        self.heads = config.heads
        self.W_Q = nn.Linear(config.width, inner, bias=config.biases)
        self.W_K = nn.Linear(config.width, inner, bias=config.biases)
        self.W_V = nn.Linear(config.width, inner, bias=config.biases)
        self.fc = nn.Linear(inner, config.width, bias=config.biases)
        self.layernorm = nn.LayerNorm(config.width, eps=config.eps)

    def forward(self, query: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        Q = self.W_Q(query).chunk(self.heads, dim=-1)
        K = self.W_K(source).chunk(self.heads, dim=-1)
        V = self.W_V(source).chunk(self.heads, dim=-1)
        mixed = []
        for head in range(self.heads):
            mixed.append(
                nn.functional.scaled_dot_product_attention(
                    Q[head], K[head], V[head], is_causal=True
                )
            )
        return self.fc(torch.cat(mixed, dim=-1))


class FeedForward(nn.Module):
    """The MLP, with the LayerNorm that goes with it."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        activations = {'relu': nn.ReLU(), 'gelu': nn.GELU()}
        self.fc = nn.Sequential(
            nn.Linear(config.width, config.mlp_dim, bias=config.biases),
            activations[config.activation],
            nn.Linear(config.mlp_dim, config.width, bias=config.biases),
        )
        self.layernorm = nn.LayerNorm(config.width, eps=config.eps)


class Layer(nn.Module):
    """P1: a LayerNorm after each residual. P3: before it, and of the query alone."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.is_p3 = config.norm == 'pre_query'
        self.dec_self_attn = Attention(config)
        self.pos_ffn = FeedForward(config)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        attention = self.dec_self_attn
        mlp = self.pos_ffn
        if self.is_p3:
            x = x + attention(attention.layernorm(x), x)
            return x + mlp.fc(mlp.layernorm(x))
        x = attention.layernorm(x + attention(x, x))
        return mlp.layernorm(x + mlp.fc(x))


class OfficialNetwork(nn.Module):
    """Tokens [B, T] -> logits [B, T, V]; P3's if the norm is 'pre_query', else P1's."""

    def __init__(self, config: TransformerConfig, vocab: int):
        super().__init__()
        self.is_p3 = config.norm == 'pre_query'
        self.embedding = nn.Module()
        self.embedding.tgt_emb = nn.Embedding(vocab, config.width)
        self.embedding.pos_emb = nn.Embedding(config.max_len, config.width)
        self.decoder = nn.Module()
        self.decoder.layers = nn.ModuleList()
        for _ in range(config.depth):
            self.decoder.layers.append(Layer(config))
        self.projection = nn.Linear(config.width, vocab)
        if self.is_p3:
            self.layernorm = nn.LayerNorm(config.width, eps=config.eps)

    def forward(self, tokens_BT: torch.Tensor) -> torch.Tensor:
        positions_T = torch.arange(tokens_BT.shape[1])
        x = self.embedding.tgt_emb(tokens_BT)
        x = x + self.embedding.pos_emb(positions_T)
        for layer in self.decoder.layers:
            x = layer(x)
        if self.is_p3:
            x = self.layernorm(x)
        return self.projection(x)


def draw_network(config: TransformerConfig, vocab: int) -> OfficialNetwork:
    """A network whose every parameter is random, LayerNorms and biases too."""
    network = OfficialNetwork(config, vocab)
    generator = torch.Generator().manual_seed(config.heads)
    for parameter in network.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data = 0.6 * noise + 0.2
    return network
