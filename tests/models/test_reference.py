"""anchorjax computes what the papers' model computes: against NumPy in float64 and PyTorch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax import tasks
from anchorjax.config.grid import HParams
from anchorjax.training.step import forward, new_state, train_step
from tests.support import cases, reference

# A large eps of LayerNorm and of Adam, so that a misplaced one shows.
BASE = dict(model__eps=0.05, optimizer__eps=1e-2)
OPTIONS = {
    'post': {},
    'post_heads': dict(model__heads=2, model__biases=True),
    'pre_gelu': dict(model__norm='pre', model__activation='gelu', model__heads=2),
    'pre_query': dict(
        model__norm='pre_query', model__activation='gelu', model__biases=True
    ),
    'deep': dict(model__depth=3, model__heads=2, model__norm='pre_query'),
}
PEAK, DECAY = 0.1, 0.3


def batch_of(experiment, number):
    """`number` sequences of random tokens: the model must not care what the task is."""
    rng = np.random.default_rng(1)
    vocab, length = experiment.task.vocab, experiment.task.seq_len
    tokens_BT = rng.integers(0, vocab, (number, length)).astype(np.int32)
    return tasks.Batch(tokens_BT, rng.integers(0, vocab, number).astype(np.int32))


def start(experiment, params):
    """(state of a member with these parameters, jitted train_step on one fixed batch)."""
    state = new_state(experiment, params)
    hparams = HParams(*map(jnp.float32, (0.5, PEAK, DECAY)), jnp.int32(0))
    batch = batch_of(experiment, experiment.train.batch_size)
    task = tasks.make(experiment.task)._replace(batch=lambda data, index_B: batch)
    step = jax.jit(lambda state: train_step(experiment, task, None, state, hparams))
    return state, step, batch


@pytest.mark.parametrize('option', OPTIONS)
def test_forward_is_the_references(option):
    experiment = cases.tiny(**BASE, **OPTIONS[option])
    params = cases.random_params(experiment)
    tokens_BT = batch_of(experiment, 16).tokens_BT
    ours = forward(experiment, params, tokens_BT, last_only=False).logits
    theirs = reference.forward(
        reference.to_float64(params), tokens_BT, experiment.model
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('option', ['post', 'post_heads', 'pre_gelu', 'pre_query'])
def test_loss_gradient_and_adamw_steps_are_the_references(option):
    experiment = cases.tiny(**BASE, **OPTIONS[option], optimizer__clip_norm=0.2)
    params = cases.random_params(experiment)
    state, step, batch = start(experiment, params)
    params = reference.to_float64(params)
    o, floor = experiment.optimizer, experiment.optimizer.floor
    adamw = reference.AdamW(params, o.b1, o.b2, o.eps, DECAY, o.clip_norm)
    for i in range(2):
        state, loss, norm = step(state)
        expected = reference.loss(params, *batch, experiment.model)
        grads = reference.gradient(params, *batch, experiment.model)
        np.testing.assert_allclose(loss, expected, rtol=1e-5)
        np.testing.assert_allclose(norm, reference.norm(grads), rtol=1e-4)
        assert reference.norm(grads) > o.clip_norm  # the clip is at work
        params = adamw.step(params, grads, floor + (PEAK - floor) * i / 4)  # warming up
    moments = [state.opt_state[1].mu, state.opt_state[1].nu]
    assert_trees_close([state.params, *moments], [params, adamw.m, adamw.v])


def assert_trees_close(ours, theirs):
    def check(path, a, b):
        name = jax.tree_util.keystr(path)
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=name)

    jax.tree_util.tree_map_with_path(check, ours, theirs)


def test_one_small_gradient_is_not_clipped():
    experiment = cases.tiny(
        **BASE, optimizer__clip_norm=50.0, optimizer__shape='constant'
    )
    params = cases.random_params(experiment)
    state, step, batch = start(experiment, params)
    state, _, norm = step(state)
    params = reference.to_float64(params)
    grads = reference.gradient(params, *batch, experiment.model)
    assert norm < 50
    adamw = reference.AdamW(params, 0.9, 0.999, 1e-2, DECAY, 50.0)
    assert_trees_close(state.params, adamw.step(params, grads, PEAK))


def torch_model(torch, model, vocab):
    """P1's layout in PyTorch (PAPERS 1.2): one head, post-norm, ReLU."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            D, K, F = model.width, model.head_dim, model.mlp_dim
            sizes = {'Q': (D, K), 'K': (D, K), 'V': (D, K), 'O': (K, D)}
            sizes |= {'in': (D, F), 'out': (F, D)}
            self.W = nn.ModuleDict(
                {n: nn.Linear(*s, bias=False) for n, s in sizes.items()}
            )
            self.LN_attn, self.LN_mlp = nn.LayerNorm(D), nn.LayerNorm(D)

        def forward(self, x):
            W, T = self.W, x.shape[1]
            scores = W['Q'](x) @ W['K'](x).transpose(1, 2) / model.head_dim**0.5
            future = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)
            Attn = scores.masked_fill(future, -1e9).softmax(-1)
            x = self.LN_attn(x + W['O'](Attn @ W['V'](x)))
            return self.LN_mlp(x + W['out'](torch.relu(W['in'](x))))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(vocab, model.width)
            self.pos = nn.Embedding(model.max_len, model.width)
            self.blocks = nn.ModuleList(Block() for _ in range(model.depth))
            self.U = nn.Linear(model.width, vocab)

        def forward(self, tokens_BT):
            x = self.embed(tokens_BT) + self.pos(torch.arange(tokens_BT.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.U(x)

    return Decoder()


def tensors(net):
    """The network's tensors as a tree of anchorjax's names: (tensor, stored transposed)."""
    tree = {'W_embed': (net.embed.weight, False), 'W_pos': (net.pos.weight, False)}
    tree |= {'W_U': (net.U.weight, True), 'b_U': (net.U.bias, False)}
    for i, block in enumerate(net.blocks):
        inner = {f'W_{name}': (layer.weight, True) for name, layer in block.W.items()}
        for name in ('LN_attn', 'LN_mlp'):
            layer = getattr(block, name)
            inner[name] = {'scale': (layer.weight, False), 'bias': (layer.bias, False)}
        tree[f'block_{i}'] = inner
    return tree


def test_logits_and_three_steps_are_pytorchs():
    torch = pytest.importorskip('torch')
    experiment = cases.tiny(
        model__width=16, model__mlp_dim=24, optimizer__shape='constant'
    )
    params = cases.random_params(experiment, scale=0.3)
    net = torch_model(torch, experiment.model, experiment.task.vocab)
    for (tensor, flipped), value in zip(
        jax.tree.leaves(tensors(net), is_leaf=lambda x: isinstance(x, tuple)),
        jax.tree.leaves(params),
        strict=True,
    ):
        tensor.data = torch.tensor(value.T.copy() if flipped else value)
    state, step, batch = start(experiment, params)
    tokens_BT, labels_B = (torch.tensor(a, dtype=torch.long) for a in batch)
    ours = forward(experiment, params, batch.tokens_BT, last_only=False).logits
    np.testing.assert_allclose(ours, net(tokens_BT).detach(), rtol=1e-4, atol=1e-5)

    optimizer = torch.optim.AdamW(net.parameters(), lr=PEAK, weight_decay=DECAY)
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(net(tokens_BT)[:, -1], labels_B)
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        state, our_loss, our_norm = step(state)
        np.testing.assert_allclose(our_loss, loss.item(), rtol=1e-4)
        np.testing.assert_allclose(our_norm, norm, rtol=1e-3)
    theirs = jax.tree.map(
        lambda pair: (pair[0].T if pair[1] else pair[0]).detach().numpy(),
        tensors(net),
        is_leaf=lambda x: isinstance(x, tuple),
    )
    # Adam divides by the gradient's size, so a gradient near 0 magnifies rounding.
    worst = jax.tree.map(lambda a, b: np.abs(a - b).max(), state.params, theirs)
    assert max(jax.tree.leaves(worst)) < 0.01 * PEAK, worst
