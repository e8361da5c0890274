"""The page's forward pass, run outside it on networks made here."""

import itertools
import json
from typing import Any

import numpy as np

from analysis.circuits import sequences
from analysis.report import page
from anchorjax.network import Network
from tests.support import cases
from tests.support.pages.browser import Page

# Options of the transformer: norm, activation, heads, biases. Every value occurs, and
# GELU and biases also with the norms of GPT-2 and P3.
OPTIONS = (
    ('post', 'relu', 1, False),
    ('post', 'gelu', 2, True),
    ('pre', 'gelu', 2, True),
    ('pre', 'relu', 1, False),
    ('pre_query', 'gelu', 3, True),
    ('pre_query', 'tanh', 1, False),
    ('none', 'identity', 2, True),
)
FORWARD = ('playground/weights', 'playground/maths', 'playground/forward')
LENGTH = 6  # noise on both sides of the three tokens


def make_member(
    norm: str = 'post',
    activation: str = 'relu',
    heads: int = 1,
    biases: bool = False,
    **fields: Any,
) -> Network:
    """A network of random parameters, none of which is zero or one."""
    options = {'norm': norm, 'activation': activation, 'heads': heads, 'biases': biases}
    changes = {'task__seq_len': LENGTH, 'model__max_len': LENGTH}
    for name, value in options.items():
        changes[f'model__{name}'] = value
    experiment = cases.tiny(**(changes | fields))
    params = cases.random_params(experiment, scale=0.4)
    return Network(experiment, params, {'gamma': 0.5, 'seed': 0}, step=0)


def sample_tokens(member: Network, number: int) -> np.ndarray:
    return sequences.sample(member, number).tokens_BT


def run_in_page(
    engine: Page,
    network: dict[str, Any],
    tokens_BT: np.ndarray,
    returned: str,
    cuts: list[list[list[int]]] | None = None,
) -> Any:
    """What the expression `returned` gives for every sequence.

    It sees `result`, the answer of runNetwork, and `round`, which makes a plain list.

    Args:
      cuts: for every sequence the (layer, source, target) that are cut.
    """
    code = page.join_files('scripts', FORWARD, 'js')
    if cuts is None:
        cuts = [[] for _ in tokens_BT]
    inputs = json.dumps([network, tokens_BT.tolist(), cuts])
    script = f"""(() => {{
{code}
const [given, sequences, cuts] = {inputs};
const network = {{ model: given.model, weights: decodeWeights(given) }};
const round = (x) => Array.from(x, (v) => (v.length ? round(v) : v));
return sequences.map((tokens, i) => {{
  const names = new Set(cuts[i].map(String));
  const isCut = (...edge) => names.has(String(edge));
  const result = runNetwork(network, tokens, isCut);
  return {returned};
}});
}})()"""
    return engine.evaluate(script)


def list_position_cuts(
    roles_BT: np.ndarray, edges: list[tuple[int, int, int]]
) -> list[list[list[int]]]:
    """Edges (layer, source role, target role) as positions of every sequence."""
    cuts = []
    for roles_T in roles_BT.tolist():
        positions = range(len(roles_T))
        of_sequence = []
        for layer, source_role, target_role in edges:
            for source, target in itertools.product(positions, positions):
                if (roles_T[source], roles_T[target]) == (source_role, target_role):
                    of_sequence.append([layer, source, target])
        cuts.append(of_sequence)
    return cuts
