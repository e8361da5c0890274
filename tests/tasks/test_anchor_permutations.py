"""P4's task by hand: three tokens, permutations, pairs that are never trained."""

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks import anchor_permutations
from anchorjax.tasks.anchor_permutations import AnchorPermutationsConfig, Data
from anchorjax.tasks.modular_addition import ModularAdditionConfig
from tests.tasks.draws import draw_eval_sets

make_batch = jax.jit(anchor_permutations.make_batch, static_argnums=0)
make_data = jax.jit(anchor_permutations.make_data, static_argnums=0)
make_eval_sets = jax.jit(anchor_permutations.make_eval_sets, static_argnums=0)
# Three keys; anchor 3 swaps keys 0 and 1, anchor 4 turns 0 -> 1 -> 2 -> 0. Of the pairs
# (3, 3), (3, 4), (4, 3), (4, 4), numbered 0 to 3, the last and the first are trained.
CONFIG = AnchorPermutationsConfig(num_keys=3, num_anchors=2, trained_share=0.5)
DATA = Data(jnp.array([[1, 0, 2], [1, 2, 0]]), jnp.array([3, 0, 1, 2]))
# (key, first, second): answer, by hand.
TRAINED = {
    (0, 4, 4): 2,
    (1, 4, 4): 0,
    (2, 4, 4): 1,
    (0, 3, 3): 0,
    (1, 3, 3): 1,
    (2, 3, 3): 2,
}
# (key, first, second): (answer, answer to the reversed pair).
UNSEEN = {
    (0, 3, 4): (2, 0),
    (1, 3, 4): (1, 2),
    (2, 3, 4): (0, 1),
    (0, 4, 3): (0, 2),
    (1, 4, 3): (2, 1),
    (2, 4, 3): (1, 0),
}


def test_training_examples_by_hand():
    batch = make_batch(CONFIG, DATA, jnp.arange(6))
    tokens = map(tuple, batch.tokens_BT.tolist())
    found = dict(zip(tokens, batch.targets_BQ[:, 0].tolist(), strict=True))
    assert found == TRAINED


def test_eval_sets_by_hand():
    eval_sets = make_eval_sets(CONFIG, DATA)
    assert (eval_sets.weights_PBQ == 1).all()
    seen, unseen = np.asarray(eval_sets.tokens_PBT).tolist()
    assert [tuple(tokens) for tokens in seen] == list(TRAINED)
    assert eval_sets.targets_PRBQ[0, 0, :, 0].tolist() == list(TRAINED.values())
    assert [tuple(tokens) for tokens in unseen] == list(UNSEEN)
    answers = eval_sets.targets_PRBQ[1, :, :, 0].T.tolist()
    assert [tuple(answer) for answer in answers] == list(UNSEEN.values())


def test_defaults_are_those_of_the_paper():
    config = AnchorPermutationsConfig()
    task = config.make()
    assert (task.vocab, task.seq_len, task.num_train) == (24, 3, 720)
    assert draw_eval_sets(config).weights_PBQ.sum((1, 2)).tolist() == [720, 304]
    maps = np.asarray(make_data(config, jax.random.key(0)).permutations)
    assert (np.sort(maps) == np.arange(16)).all() and len(np.unique(maps, axis=0)) == 8


def test_addition_by_hand():
    config = ModularAdditionConfig(modulus=3, trained_share=0.4)
    task = config.make()
    order = jnp.array([8, 0, 5, 1, 2, 3, 4, 6, 7])  # questions a * 3 + b
    batch = jax.jit(task.batch)(order, jnp.arange(4))
    assert batch.tokens_BT.tolist() == [[2, 2, 3], [0, 0, 3], [1, 2, 3], [0, 1, 3]]
    assert batch.targets_BQ[:, 0].tolist() == [1, 0, 0, 1]
    eval_sets = jax.jit(task.eval_sets)(order)
    assert eval_sets.weights_PBQ[:, :, 0].tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert eval_sets.tokens_PBT[1, 0].tolist() == [0, 2, 3]
    assert eval_sets.targets_PRBQ[1, 0, :, 0].tolist() == [2, 1, 2, 2, 0]
