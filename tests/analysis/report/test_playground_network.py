"""The page's forward pass against JAX's: logits, activations, answers, knock-out."""

import numpy as np
import pytest

from analysis.circuits import edge_sets, interventions
from analysis.report.playground import describe_network
from anchorjax.network import Network
from tests.support.pages import network_page
from tests.support.pages.browser import Page

pytestmark = pytest.mark.slow

TOLERANCE = 1e-4
FIELDS = ('Q', 'K', 'V', 'Attn', 'X_qkv', 'X_ao', 'hidden', 'X_do')
# All of them for every layer, as plain lists in the order of FIELDS.
ACTIVATIONS = f"""result.layers.map(({{ {', '.join(FIELDS)} }}) =>
  [{', '.join(FIELDS)}].map(round))"""


def compare_logits(engine: Page, member: Network) -> None:
    tokens_BT = network_page.sample_tokens(member, 100)
    network = describe_network(member)
    logits = network_page.run_in_page(
        engine, network, tokens_BT, 'round(result.logits)'
    )
    expected_BV = member.activations(tokens_BT).logits[:, -1]
    np.testing.assert_allclose(logits, expected_BV, atol=TOLERANCE, rtol=0)
    # The test can fail: networks that forget their tokens would agree as well.
    assert np.ptp(expected_BV, axis=0).max() > 0.1


def test_logits_activations_and_answers_are_those_of_jax(engine):
    """One network of every field: 100 sequences, and the answers to 1,000."""
    member = network_page.make_member('pre', 'gelu', heads=2, biases=True)
    compare_logits(engine, member)
    tokens_BT = network_page.sample_tokens(member, 1_000)
    network = describe_network(member)
    argmax = 'result.logits.indexOf(result.logits.reduce((a, b) => Math.max(a, b)))'
    answers_B = network_page.run_in_page(engine, network, tokens_BT, argmax)
    activations = member.activations(tokens_BT)
    np.testing.assert_array_equal(answers_B, activations.logits[:, -1].argmax(-1))

    few_BT = tokens_BT[:3]
    shown = network_page.run_in_page(engine, network, few_BT, ACTIVATIONS)
    for layer, block in enumerate(activations.blocks):
        for f, field in enumerate(FIELDS):
            expected = getattr(block, field)[:3]
            found = np.array([sequence[layer][f] for sequence in shown])
            np.testing.assert_allclose(
                found.ravel(), expected.ravel(), atol=TOLERANCE, err_msg=field
            )


@pytest.mark.parametrize('options', network_page.OPTIONS)
def test_logits_are_those_of_jax_for_every_option(options, engine):
    compare_logits(engine, network_page.make_member(*options))


def test_the_logit_lens_reads_the_stream_after_every_layer(engine):
    member = network_page.make_member('post', 'relu')
    tokens_BT = network_page.sample_tokens(member, 10)
    network = describe_network(member)
    lens = network_page.run_in_page(
        engine, network, tokens_BT, 'result.lens.map(round)'
    )
    activations = member.activations(tokens_BT)
    streams = [activations.X_em, *(block.X_do for block in activations.blocks)]
    for layer, X_BTD in enumerate(streams):
        expected_BV = X_BTD[:, -1] @ member.params['W_U'] + member.params['b_U']
        found = [sequence[layer] for sequence in lens]
        np.testing.assert_allclose(found, expected_BV, atol=TOLERANCE)


def test_a_cut_edge_is_the_knock_out_of_causal(engine):
    """Every edge cut alone: the answers of analysis/p1/causal.py, and its logits."""
    member = network_page.make_member('post', 'relu', heads=2)
    tokens_BT = network_page.sample_tokens(member, 16)
    roles_BT = member.roles(tokens_BT)
    ablation = edge_sets.prepare_ablation(member)
    names = member.task.role_names
    masks = []
    cuts = []
    for layer, source, target in ablation.edges:
        edge = (layer, names.index(source), names.index(target))
        mask = edge_sets.mask_edges(ablation, ablation.edges)
        mask[edge] = False
        masks.append(mask)
        cuts += network_page.list_position_cuts(roles_BT, [edge])
    network = describe_network(member)
    repeated = np.tile(tokens_BT, (len(masks), 1))
    logits = network_page.run_in_page(
        engine, network, repeated, 'round(result.logits)', cuts
    )
    logits_CBV = np.reshape(logits, (len(masks), len(tokens_BT), -1))

    expected_CB = interventions.answer_with_cuts(member, tokens_BT, np.stack(masks))
    np.testing.assert_array_equal(logits_CBV.argmax(-1), expected_CB)
    edit = interventions.make_cut_edit(masks[3], roles_BT)
    cut_BV = member.apply(member.params, tokens_BT, edit=edit).logits[:, -1]
    np.testing.assert_allclose(logits_CBV[3], cut_BV, atol=TOLERANCE)
    intact_B = member.activations(tokens_BT).logits[:, -1].argmax(-1)
    assert (expected_CB != intact_B).any()  # some cut changes something
