"""Edges that a network is trained without are those that an analysis cuts."""

from typing import Any

import jax
import numpy as np
import pytest

from analysis.circuits import edge_sets, interventions
from anchorjax.errors import ConfigError
from anchorjax.models.edges import allow_edges
from anchorjax.network import Network
from anchorjax.training.forward import compute_logits
from tests.support import cases
from tests.support.cases import assert_same_but_rounding
from tests.support.networks.wired import LONGER
from tests.support.sweeps import trained

TOKENS_BT = np.array([[9, 4, 3, 11, 5, 6], [6, 12, 2, 1, 9, 9], [8, 1, 1, 7, 6, 5]])
CUTS = ((0, 'key', 'anchor_1'), (1, 'key', 'last'), (1, 'anchor_2', 'last'))


def draw(**fields: Any) -> Network:
    experiment, params = cases.draw_member(**LONGER, model__heads=2, **fields)
    return Network(experiment, params, {'gamma': 0.5, 'seed': 0}, step=0)


@pytest.mark.slow
def test_the_mask_of_training_is_the_cut_of_analysis():
    intact = draw(model__norm='pre_query')
    without = draw(model__norm='pre_query', model__cut_edges=CUTS)
    names = intact.task.role_names
    roles_BT = intact.roles(TOKENS_BT)
    allowed_NJJ = ~allow_edges(CUTS, 2, names)
    cut_BV = interventions.run_edited(
        intact, TOKENS_BT, interventions.make_cut_edit, allowed_NJJ, roles_BT
    )
    logits = without.forward(TOKENS_BT).values
    assert_same_but_rounding(cut_BV, logits[:, -1])
    for last_only in (True, False):
        trained_on = jax.jit(compute_logits, static_argnums=(0, 3))(
            without.experiment, without.params, TOKENS_BT, last_only
        )
        assert_same_but_rounding(trained_on[:, -1], logits[:, -1])
    for layer, cache in enumerate(without.activations(TOKENS_BT).blocks):
        for b, t, s in np.ndindex(3, 6, 6):
            edge = (layer, names[roles_BT[b, s]], names[roles_BT[b, t]])
            is_read = s <= t and (s == t or edge not in CUTS)
            assert (cache.Attn[b, :, t, s] > 0).all() == is_read
    assert np.abs(intact.forward(TOKENS_BT).values - logits)[:, -1].max() > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize('last_only', [True, False])
def test_nothing_flows_back_along_a_cut_edge(last_only):
    """With all of its edges cut, the key has no gradient at the last position."""
    cuts = [(n, 'key', to) for n in (0, 1) for to in ('anchor_1', 'anchor_2', 'last')]
    cuts += [(n, 'key', 'noise') for n in (0, 1)]
    tokens_BT = TOKENS_BT[:1]  # the key 9, once

    def slope(network: Network) -> float:
        def loss(params: Any) -> jax.Array:
            logits = compute_logits(network.experiment, params, tokens_BT, last_only)
            return logits[:, -1].var()

        return np.abs(jax.jit(jax.grad(loss))(network.params)['W_embed'][9]).max()

    assert slope(draw()) > 1e-4
    assert slope(draw(model__cut_edges=tuple(cuts))) == 0


@pytest.mark.slow
def test_a_network_that_was_trained_without_edges_is_read_without_them(tmp_path):
    axis = (('model.cut_edges', ((), CUTS)),)
    in_one_chunk = {'train__lanes': 4, 'train__resume_every': 1e9}
    changes = LONGER | in_one_chunk
    run = trained(tmp_path, static_axes=axis, model__depth=2, **changes)
    texts = run.members.cut_edges.unique()
    assert len(texts) == 2
    point = {'gamma': run.experiment.axes['gamma'][0], 'seed': 0}
    for cut in ((), CUTS):
        network = run.network(cut_edges=cut, **point)
        recorded = run.results.agreement.sel(run.labels(cut_edges=cut, **point))
        table = network.answers('seen_train')
        found = float(recorded.sel(eval_set='seen_train', mapping='assigned').squeeze())
        share = (table.answer == table.assigned).mean()
        assert share == pytest.approx(found, abs=1.01 / len(table))
    assert set(CUTS).isdisjoint(edge_sets.prepare_ablation(network).edges)


@pytest.mark.parametrize(
    ('edges', 'line'),
    [
        (((2, 'key', 'last'),), r'of a layer from 0 to 1'),
        (((0, 'keys', 'last'),), r"between roles of the task, \('key', 'anchor_1'"),
    ],
)
def test_an_edge_that_is_not_there_is_one_line(edges, line):
    with pytest.raises(ConfigError, match=f'model.cut_edges = .*: must be {line}'):
        cases.tiny(model__cut_edges=edges)
