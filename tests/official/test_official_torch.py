"""The authors' network, written in PyTorch from its description: the same logits as ours."""

import jax
import numpy as np
import pytest

from anchorjax.official import weights
from anchorjax.training.step import forward
from tests.support import cases, reference
from tests.support.official_cases import P3, assert_same_bits, ours

TOKENS_BT = np.array([[6, 1, 4, 9], [7, 3, 3, 12], [11, 5, 2, 2]])


@pytest.fixture(scope='module')
def torch():
    return pytest.importorskip(
        'torch', reason="needs the extra: pip install -e '.[torch]'"
    )


def network(
    torch, heads, biases, width=6, head_dim=4, hidden=9, vocab=20, length=5, depth=2
):
    """The official tree of modules, every parameter random."""
    nn = torch.nn
    linear = lambda n, m: nn.Linear(n, m, bias=biases)

    def layer():
        attention = {f'W_{name}': linear(width, heads * head_dim) for name in 'QKV'}
        attention |= {
            'fc': linear(heads * head_dim, width),
            'layernorm': nn.LayerNorm(width),
        }
        fc = nn.Sequential(linear(width, hidden), nn.Identity(), linear(hidden, width))
        mlp = nn.ModuleDict({'fc': fc, 'layernorm': nn.LayerNorm(width)})
        return nn.ModuleDict(
            {'dec_self_attn': nn.ModuleDict(attention), 'pos_ffn': mlp}
        )

    tables = {
        'tgt_emb': nn.Embedding(vocab, width),
        'pos_emb': nn.Embedding(length, width),
    }
    tree = {
        'embedding': nn.ModuleDict(tables),
        'decoder': nn.ModuleDict(
            {'layers': nn.ModuleList(layer() for _ in range(depth))}
        ),
        'projection': nn.Linear(width, vocab),
    }
    tree |= {'layernorm': nn.LayerNorm(width)} if biases else {}
    made, generator = nn.ModuleDict(tree), torch.Generator().manual_seed(heads)
    for parameter in made.parameters():
        parameter.data = 0.6 * torch.randn(parameter.shape, generator=generator) + 0.2
    return made


def attend(torch, m, query, source, heads):
    """Causal softmax attention by PyTorch's own operator, one head at a time."""
    Q, K, V = m['W_Q'](query), m['W_K'](source), m['W_V'](source)
    operator = torch.nn.functional.scaled_dot_product_attention
    parts = zip(*(x.chunk(heads, dim=-1) for x in (Q, K, V)), strict=True)
    return m['fc'](
        torch.cat([operator(*part, is_causal=True) for part in parts], dim=-1)
    )


def logits(torch, net, heads, tokens_BT):
    """P1: a LayerNorm after each residual. P3: before, of the query alone, and a last one."""
    quirk = 'layernorm' in net
    positions = torch.arange(tokens_BT.shape[1])
    x = net['embedding']['tgt_emb'](tokens_BT) + net['embedding']['pos_emb'](positions)
    activation = torch.nn.functional.gelu if quirk else torch.relu
    for layer in net['decoder']['layers']:
        attention, mlp = layer['dec_self_attn'], layer['pos_ffn']
        neurons = lambda x, fc=mlp['fc']: fc[2](activation(fc[0](x)))
        if quirk:
            x = x + attend(torch, attention, attention['layernorm'](x), x, heads)
            x = x + neurons(mlp['layernorm'](x))
        else:
            x = attention['layernorm'](x + attend(torch, attention, x, x, heads))
            x = mlp['layernorm'](x + neurons(x))
    return net['projection'](net['layernorm'](x) if quirk else x)


@pytest.mark.parametrize('biases', [False, True], ids=['P1', 'P3'])
@pytest.mark.parametrize('heads', [1, 2])
def test_the_same_weights_give_the_same_logits(torch, tmp_path, heads, biases):
    net = network(torch, heads, biases)
    torch.save(net.state_dict(), tmp_path / 'theirs.pt')
    model, _, params = weights.load_weights(tmp_path / 'theirs.pt', heads=heads)
    experiment = cases.tiny(**{f'model__{n}': getattr(model, n) for n in vars(model)})
    with torch.no_grad():
        expected = logits(torch, net.double(), heads, torch.tensor(TOKENS_BT)).numpy()
    exact = reference.forward(reference.to_float64(params), TOKENS_BT, model)
    np.testing.assert_allclose(exact, expected, rtol=1e-10, atol=1e-10)
    run = jax.jit(lambda p: forward(experiment, p, TOKENS_BT, last_only=False).logits)
    np.testing.assert_allclose(run(params), expected, rtol=1e-5, atol=2e-5)


def test_what_we_write_pytorch_loads(torch, tmp_path):
    net = network(torch, heads=1, biases=True)
    _, params = ours(**P3)
    weights.save_weights(tmp_path / 'ours.pt', params)
    net.load_state_dict(
        torch.load(tmp_path / 'ours.pt', weights_only=True)
    )  # every name, strictly
    assert_same_bits(weights.load_weights(tmp_path / 'ours.pt')[2], params)
    assert [p.name for p in tmp_path.iterdir()] == ['ours.pt']


def test_half_precision_files_are_read(torch, tmp_path):
    net = network(torch, heads=1, biases=False).bfloat16()
    torch.save(net.state_dict(), tmp_path / 'w.pt')
    W_pos = weights.load_weights(tmp_path / 'w.pt')[2]['W_pos']
    np.testing.assert_array_equal(
        W_pos, net['embedding']['pos_emb'].weight.detach().float()
    )
