"""P4's task by hand: three tokens, permutations, pairs that are never trained."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax import tasks
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


@settings(max_examples=2, deadline=None)
@given(
    num_keys=st.integers(2, 6),
    num_anchors=st.integers(2, 4),
    share=st.floats(0.3, 0.8),
    seed=st.integers(0, 2**31 - 1),
)
def test_every_question_is_trained_or_unseen_and_answered_by_composition(
    num_keys, num_anchors, share, seed
):
    config = AnchorPermutationsConfig(
        num_keys=num_keys, num_anchors=num_anchors, trained_share=share
    )

    @jax.jit
    def draw(seed: jax.Array) -> tuple[Data, tasks.EvalSets, tasks.Batch]:
        data = make_data(config, jax.random.key(seed))
        all_B = jnp.arange(config.num_trained * num_keys)
        return data, make_eval_sets(config, data), make_batch(config, data, all_B)

    data, eval_sets, batch = jax.tree.map(np.asarray, draw(seed))
    maps = data.permutations
    assert (np.sort(maps) == np.arange(num_keys)).all()
    asked = []
    for p in (0, 1):
        asked.append(set(map(tuple, eval_sets.tokens_PBT[p].tolist())))
        assert (eval_sets.weights_PBQ[p, :, 0] > 0).sum() == len(asked[p])
        key_B, first_B, second_B = (eval_sets.tokens_PBT[p] - [0, num_keys, num_keys]).T
        answer_B, of_reversed_B = eval_sets.targets_PRBQ[p, :, :, 0]
        np.testing.assert_array_equal(answer_B, maps[second_B, maps[first_B, key_B]])
        expected_B = maps[first_B, maps[second_B, key_B]]
        np.testing.assert_array_equal(of_reversed_B, expected_B)
    anchors = range(num_keys, num_keys + num_anchors)
    everything = set(itertools.product(range(num_keys), anchors, anchors))
    assert asked[0] | asked[1] == everything and not asked[0] & asked[1]
    assert set(map(tuple, batch.tokens_BT.tolist())) == asked[0]


def test_a_table_of_the_trained_pairs_does_not_know_the_others():
    """The null: what the reversed pair was trained on is right by chance alone."""
    task = AnchorPermutationsConfig().make()

    @jax.jit
    @jax.vmap
    def draw(seed: jax.Array) -> tasks.EvalSets:
        return task.eval_sets(task.make_data(jax.random.key(seed)))

    eval_sets = jax.tree.map(lambda leaf: np.asarray(leaf)[:, 1], draw(jnp.arange(20)))
    answer_SB, of_reversed_SB = np.moveaxis(eval_sets.targets_PRBQ[..., 0], 1, 0)
    _, first_SB, second_SB = np.moveaxis(eval_sets.tokens_PBT, -1, 0)
    is_asked_SB = (eval_sets.weights_PBQ[..., 0] > 0) & (first_SB != second_SB)
    same_SB = answer_SB == of_reversed_SB
    assert same_SB[is_asked_SB].mean() == pytest.approx(1 / 16, abs=0.03)


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
