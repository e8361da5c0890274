"""The authors' checkpoints: the same numbers by their names and by ours, and nothing executed."""

import functools
import math
import pathlib
import pickle
import sys

import cases
import jax
import ml_dtypes
import numpy as np
import pytest
import reference

from analysis import official as analysed
from anchorjax import config, official, train
from anchorjax.errors import UserError

TOKENS_BT = np.array([[6, 1, 4, 9], [7, 3, 3, 12], [11, 5, 2, 2]])
P3 = {'model__norm': 'pre_query', 'model__activation': 'gelu', 'model__biases': True}
ATTENTION = 'decoder.layers.1.dec_self_attn.'


def ours(**fields):
    experiment = cases.tiny(**fields)
    return experiment, cases.random_params(experiment)


@functools.lru_cache
def state_dict(**fields):
    return official.to_state_dict(ours(**fields)[1])


def assert_same_bits(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


# Names and layout: without PyTorch


@pytest.mark.parametrize('layout', [{}, P3], ids=['P1', 'P3'])
@pytest.mark.parametrize('heads', [1, 2])
def test_there_and_back_changes_no_bit_and_finds_every_size(layout, heads):
    experiment, params = ours(model__heads=heads, model__depth=3, **layout)
    state = official.to_state_dict(params)
    model, vocab, again = official.from_state_dict(state, heads=heads)
    assert (model, vocab) == (experiment.model, experiment.task.vocab)
    assert_same_bits(again, params)
    assert_same_bits(official.to_state_dict(again), state)


def test_names_and_shapes_are_the_printed_ones():
    """Of a P1 model of 2 layers, as its module tree prints them (PAPERS 1.2)."""
    params = cases.random_params(config.resolve(config.default()))
    shapes = {name: array.shape for name, array in official.to_state_dict(params).items()}
    expected = {
        'embedding.tgt_emb.weight': (201, 400),
        'embedding.pos_emb.weight': (20, 400),
        'projection.weight': (201, 400),
        'projection.bias': (201,),
    }
    for layer in range(2):
        attention, mlp = (f'decoder.layers.{layer}.{m}' for m in ('dec_self_attn', 'pos_ffn'))
        expected |= {f'{attention}.W_{name}.weight': (200, 400) for name in 'QKV'}
        expected |= {f'{attention}.fc.weight': (400, 200)}
        expected |= {f'{mlp}.fc.0.weight': (1200, 400), f'{mlp}.fc.2.weight': (400, 1200)}
        for module in (attention, mlp):
            expected |= {f'{module}.layernorm.{part}': (400,) for part in ('weight', 'bias')}
    assert shapes == expected
    assert sum(map(math.prod, shapes.values())) == 2_732_201


def test_what_a_state_dict_cannot_say_is_said():
    model, _, _ = official.from_state_dict(state_dict(**P3), norm='pre', activation='relu')
    assert (model.norm, model.activation, model.heads) == ('pre', 'relu', 1)
    model, _, _ = official.from_state_dict(state_dict(), heads=4)
    assert (model.heads, model.head_dim) == (4, 1)


def test_the_prefix_of_data_parallel_training_goes():
    state = state_dict()
    wrapped = {f'module.{name}': array for name, array in state.items()}
    assert_same_bits(official.from_state_dict(wrapped)[2], official.from_state_dict(state)[2])


@pytest.mark.parametrize('dtype', [np.float16, ml_dtypes.bfloat16, np.float64])
def test_other_precisions_become_float32(dtype):
    state = {name: array.astype(dtype) for name, array in state_dict().items()}
    params = official.from_state_dict(state)[2]
    expected = {name: array.astype(np.float32) for name, array in state.items()}
    assert_same_bits(official.to_state_dict(params), expected)


def edited(remove=(), **added):
    state = {n: a for n, a in state_dict().items() if n not in remove}
    return state | {name.replace('__', '.'): value for name, value in added.items()}


ZEROS = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ('state', 'heads', 'complaint'),
    [
        (edited(['embedding.pos_emb.weight']), 1, r'embedding\.pos_emb\.weight is missing'),
        (edited([f'{ATTENTION}fc.weight']), 1, r'missing in .*: decoder\.layers\.1.*attn\.fc\.wei'),
        (edited(epoch=ZEROS), 1, 'unexpected in the state dict: epoch$'),
        (edited(layernorm__weight=ZEROS[0]), 1, r'missing in the state dict: layernorm\.bias'),
        (edited(projection__weight=ZEROS), 1, r'projection.weight has .*\(2, 3\).*\(20, 6\)'),
        (edited(**{'embedding__tgt_emb__weight': ZEROS[0]}), 1, r'\(3,\), not that of a matrix'),
        (edited(epoch=7), 1, "'epoch' is a int: must be a dense tensor"),
        (edited(epoch=np.zeros(3, int)), 1, "'epoch' is a ndarray of int64: must be a dense ten"),
        ({'model': state_dict()}, 1, r"'model' is a dict: .* as in model\.state_dict\(\)"),
        ({}, 1, 'not a state dict of the official model'),
        (state_dict(), 3, 'heads = 3: must be a divisor of the 4 query rows'),
        (state_dict(), 0, 'heads = 0: must be a divisor'),
    ],
)
def test_another_state_dict_is_one_clear_line(state, heads, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        official.from_state_dict(state, heads=heads)
    assert '\n' not in str(caught.value)


def test_parameters_of_another_model_are_refused():
    with pytest.raises(UserError, match="'block_0/W_gate' has no counterpart"):
        official.to_state_dict({'block_0': {'W_gate': ZEROS}})


def test_without_pytorch_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, 'torch', None)
    for call in (lambda: official.load(tmp_path), lambda: official.save(tmp_path / 'w.pt', {})):
        with pytest.raises(UserError, match=r'\[torch\]'):
            call()


# The same network in PyTorch, from its description


@pytest.fixture(scope='module')
def torch():
    return pytest.importorskip('torch', reason="needs the extra: pip install -e '.[torch]'")


def network(torch, heads, biases, width=6, head_dim=4, hidden=9, vocab=20, length=5, depth=2):
    """The official tree of modules, every parameter random."""
    nn = torch.nn
    linear = lambda n, m: nn.Linear(n, m, bias=biases)

    def layer():
        attention = {f'W_{name}': linear(width, heads * head_dim) for name in 'QKV'}
        attention |= {'fc': linear(heads * head_dim, width), 'layernorm': nn.LayerNorm(width)}
        fc = nn.Sequential(linear(width, hidden), nn.Identity(), linear(hidden, width))
        mlp = nn.ModuleDict({'fc': fc, 'layernorm': nn.LayerNorm(width)})
        return nn.ModuleDict({'dec_self_attn': nn.ModuleDict(attention), 'pos_ffn': mlp})

    tables = {'tgt_emb': nn.Embedding(vocab, width), 'pos_emb': nn.Embedding(length, width)}
    tree = {
        'embedding': nn.ModuleDict(tables),
        'decoder': nn.ModuleDict({'layers': nn.ModuleList(layer() for _ in range(depth))}),
        'projection': nn.Linear(width, vocab),
    }
    tree |= {'layernorm': nn.LayerNorm(width)} if biases else {}
    made, generator = nn.ModuleDict(tree), torch.Generator().manual_seed(heads)
    for weights in made.parameters():
        weights.data = 0.6 * torch.randn(weights.shape, generator=generator) + 0.2
    return made


def attend(torch, m, query, source, heads):
    """Causal softmax attention by PyTorch's own operator, one head at a time."""
    Q, K, V = m['W_Q'](query), m['W_K'](source), m['W_V'](source)
    operator = torch.nn.functional.scaled_dot_product_attention
    parts = zip(*(x.chunk(heads, dim=-1) for x in (Q, K, V)), strict=True)
    return m['fc'](torch.cat([operator(*part, is_causal=True) for part in parts], dim=-1))


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
    model, _, params = official.load(tmp_path / 'theirs.pt', heads=heads)
    experiment = cases.tiny(**{f'model__{n}': getattr(model, n) for n in vars(model)})
    with torch.no_grad():
        expected = logits(torch, net.double(), heads, torch.tensor(TOKENS_BT)).numpy()
    exact = reference.forward(reference.to_float64(params), TOKENS_BT, model)
    np.testing.assert_allclose(exact, expected, rtol=1e-10, atol=1e-10)
    forward = jax.jit(lambda p: train.forward(experiment, p, TOKENS_BT, last_only=False).logits)
    np.testing.assert_allclose(forward(params), expected, rtol=1e-5, atol=2e-5)


def test_what_we_write_pytorch_loads(torch, tmp_path):
    net = network(torch, heads=1, biases=True)
    _, params = ours(**P3)
    official.save(tmp_path / 'ours.pt', params)
    net.load_state_dict(torch.load(tmp_path / 'ours.pt', weights_only=True))  # every name, strictly
    assert_same_bits(official.load(tmp_path / 'ours.pt')[2], params)
    assert [p.name for p in tmp_path.iterdir()] == ['ours.pt']


def test_half_precision_files_are_read(torch, tmp_path):
    net = network(torch, heads=1, biases=False).bfloat16()
    torch.save(net.state_dict(), tmp_path / 'w.pt')
    W_pos = official.load(tmp_path / 'w.pt')[2]['W_pos']
    np.testing.assert_array_equal(W_pos, net['embedding']['pos_emb'].weight.detach().float())


# Files


class Malicious:
    """Unpickled, it creates a file."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


@pytest.mark.parametrize('zipped', [True, False])
def test_a_file_that_would_run_code_is_refused_and_does_not(torch, tmp_path, zipped):
    trap, path = tmp_path / 'trap', tmp_path / 'w.pt'
    torch.save({'w': Malicious(trap)}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(UserError, match=r'refused: it holds .* could run code') as caught:
        official.load(path)
    assert not trap.exists()
    assert '\n' not in str(caught.value) and 'weights_only' not in str(caught.value)
    torch.load(path, weights_only=False)  # the trap was a real one
    assert trap.exists()


@pytest.mark.filterwarnings('error')
def test_a_bad_file_is_one_clear_line(torch, tmp_path, monkeypatch):
    path = tmp_path / 'w.pt'

    def refused(complaint):
        with pytest.raises(UserError, match=complaint) as caught:
            official.load(path)
        assert '\n' not in str(caught.value)

    refused('cannot read .*w.pt: No such file')
    path.write_text('hello')
    refused('damaged or no file of torch.save')
    path.write_bytes(b'')
    refused('damaged or no file of torch.save')
    path.write_bytes(pickle.dumps({'w': Malicious(path)}))  # not of torch.save, where it warns
    refused('refused: it holds something else than tensors')
    torch.save(torch.nn.Linear(2, 2), path)  # the whole module instead of its state
    refused(r'refused: it holds torch\.nn.*torch\.save\(model\.state_dict\(\)')
    torch.save([torch.zeros(2)], path)
    refused('holds a list, not a state dict')
    torch.save({'w': torch.eye(2).to_sparse()}, path)
    refused("w.pt: 'w' is a Tensor of torch.float32: must be a dense")
    torch.save({'model': {}, 'epoch': 3}, path)
    refused("w.pt: 'model' is a dict")
    monkeypatch.setattr(torch, '__version__', '2.9.1+cpu')
    refused(r'PyTorch 2\.9\.1\+cpu does not read files safely: needs 2\.10')


# As a member


def test_another_vocabulary_or_broken_numbers_are_refused(torch, tmp_path):
    experiment, params = ours()
    official.save(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='has 20 tokens, the task has 201'):
        analysed.member(tmp_path / 'w.pt')
    params['block_0']['W_Q'][0, 0] = np.nan
    official.save(tmp_path / 'w.pt', params)
    with pytest.raises(UserError, match='not finite'):
        analysed.member(tmp_path / 'w.pt', experiment)


def test_the_command_prints_the_answers_and_draws(torch, tmp_path, monkeypatch, capsys):
    experiment, params = ours(task__vocab=201, model__max_len=20, model__heads=2)
    official.save(path := tmp_path / 'model_209.pt', params)
    words = [f'--weights={path}', '--heads=2', '--figure=attention_flow', f'--out={tmp_path}']
    monkeypatch.setattr(sys, 'argv', ['official.py', *words])
    analysed.main()
    printed = dict(line.split(':') for line in capsys.readouterr().out.splitlines() if ':' in line)
    assert (printed['tokens'].strip(), printed['heads'].strip()) == ('201', '2')
    assert (tmp_path / 'attention_flow_model_209.png').stat().st_size > 1000
    member = analysed.member(path, heads=2)
    assert member.experiment.model == experiment.model and member.step == -1
    assert math.isnan(member.point['gamma']) and member.point['seed'] == 0
    for i, probe in enumerate(member.task.probe_names):
        tokens_BT, labels_RB = member.probes.tokens_PBT[i], member.probes.labels_PRB[i]
        exact = reference.forward(reference.to_float64(params), tokens_BT, experiment.model)
        for mapping, labels_B in zip(member.task.mapping_names, labels_RB, strict=True):
            share = (exact[:, -1].argmax(-1) == labels_B).mean()
            assert float(printed[f'{probe}, {mapping}']) == pytest.approx(share, abs=6e-4)
