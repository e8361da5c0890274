"""What every model and its parts give has the shapes and the types that they state."""

from collections.abc import Callable
from functools import partial
from typing import Any

import chex
import jax
import pytest

from anchorjax.models import MODELS, gpt2, gradients, shortcuts, transformer
from anchorjax.training.forward import compute_logits
from tests.support import cases
from tests.support.cases import forward
from tests.support.p2_tasks import make_experiment
from tests.support.shapes import assert_shapes, floats, ints

B, T, D, H, K, F, V = 3, 4, 8, 2, 4, 24, 20
HEADS, WEIGHTS, STREAM = floats(B, T, H, K), floats(B, H, T, T), floats(B, T, D)
EMBEDDED = shortcuts.Embedded(ints(B, T), floats(V, D), floats(T, D))
LINEAR = gpt2.Linear(floats(D, F), floats(F))
PARTS = [
    (STREAM, gradients.look_up, floats(V, D), ints(B, T)),
    (STREAM, gradients.relu, STREAM),
    (STREAM, gradients.normalize, STREAM, floats(D), floats(D), 1e-5),
    (floats(B, 2, T), gradients.score_keys, floats(B, 2, K), floats(B, T, K)),
    (floats(B, 2, K), gradients.mix_rows, floats(B, 2, T), floats(B, T, K)),
    (STREAM, shortcuts.Embedded.rows, EMBEDDED),
    (floats(B, T, F), shortcuts.Embedded.project, EMBEDDED, floats(D, F)),
    (floats(B, T, F), shortcuts.project, STREAM, floats(D, F)),
    (
        (floats(B, H, 1, T), floats(B, 1, H * K)),
        *(shortcuts.attend_last, floats(B, 1, H, K), STREAM),
        *(floats(D, H * K), floats(D, H * K)),
    ),
    (STREAM, transformer.add_bias, STREAM, floats(D)),
    *[(STREAM, transformer.activate, a, STREAM) for a in transformer.ACTIVATIONS],
    (WEIGHTS, transformer.attention_weights, HEADS, HEADS),
    (floats(B, T, H * K), transformer.mix_values, WEIGHTS, HEADS),
    (HEADS, transformer.split_heads, floats(B, T, H * K), H),
    (WEIGHTS, gpt2.weigh_past, HEADS, HEADS),
    (floats(B, T, H * K), gpt2.attend_fused, HEADS, HEADS, HEADS),
    (floats(B, T, F), gpt2.multiply_rows, STREAM, floats(D, F), 'float32', 'float32'),
    (floats(B, T, F), gpt2.Linear.apply, LINEAR, STREAM, 'float32'),
]
# By name: an experiment of few numbers, and D, H, K and F of its blocks.
OF_MODELS = {
    'transformer': (cases.tiny(model__heads=2), 6, 2, 4, 9),
    'gpt2': (cases.tiny_gpt2(), 8, 2, 4, 32),
    'emb_mlp': (make_experiment('emb_mlp', task__seq_len=T), 6, 0, 0, 0),
    'one_layer': (make_experiment('one_layer', task__seq_len=T), V, 1, 5, 9),
}


@pytest.mark.parametrize('name', [name for name in MODELS if name != 'planted'])
@pytest.mark.parametrize('last_only', [False, True])
def test_a_model_gives_the_activations_of_its_sizes(name, last_only):
    experiment, D, H, K, F = OF_MODELS[name]
    params = cases.random_params(experiment)

    def run(of: Callable) -> Any:
        compute = partial(of, experiment, last_only=last_only)
        return jax.eval_shape(compute, params, tokens_BT=ints(B, T))

    activations, logits = run(forward), run(compute_logits)
    blocks = activations.blocks
    chex.assert_shape(activations.X_em, (B, T, D))
    chex.assert_shape([activations.logits, logits], (B, 1 if last_only else T, V))
    chex.assert_type(jax.tree.leaves((activations, logits)), float)
    assert len(blocks) == getattr(experiment.model, 'depth', int(name == 'one_layer'))
    for block in blocks:
        Q = 1 if last_only and block is blocks[-1] else T
        chex.assert_shape(block.Q, (B, Q, H, K))
        chex.assert_shape([block.K, block.V], (B, T, H, K))
        chex.assert_shape(block.Attn, (B, H, Q, T))
        chex.assert_shape(block.X_qkv, (B, Q, H * K))
        chex.assert_shape(block.hidden, (B, Q, F))
        chex.assert_shape([block.X_ao, block.X_do], (B, Q, D))


@pytest.mark.parametrize('row', PARTS, ids=lambda row: row[1].__name__)
def test_a_part_gives_the_shapes_of_its_docstring(row):
    assert_shapes(*row)
