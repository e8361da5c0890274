"""What P2 says of its synthetic task: a claim is a row of CLAIMS."""

from collections.abc import Callable
from functools import partial

from analysis import (
    anchor_cosines,
    embedding_pca,
    first_attention,
    label_groups,
    label_law,
    learning_order,
    theory_path,
)
from analysis.bias.readings import embeddings, learning, networks
from analysis.learning_order import TEST
from analysis.old_claims.by_setting import Claim
from analysis.old_claims.reading import Reading
from anchorjax.experiment import Experiment

NEAR = 'task.memory_labels'  # the axis of the sweep of Fig 8 left
INTRODUCTION = (
    'Small initialization is the largest γ of a run, large the smallest. Intervals are '
    "of 95 %: Student's t over seeds, which may leave a number's range (ratios: by "
    'logarithms). `analysis/bias/readings/` has the rules.'
)


def is_main_data(experiment: Experiment) -> bool:
    """P2's task without the options of Fig 8."""
    loop = dict(experiment.loop)
    task = experiment.task
    is_uniform = task.memory_labels == 'uniform' and NEAR not in loop
    return is_uniform and not task.label_ranges and 'task.label_ranges' not in loop


def is_gradient_descent(experiment: Experiment) -> bool:
    """AdamW without moments and with a huge eps, as in the preset flow."""
    return experiment.optimizer.b1 == 0 and experiment.optimizer.eps >= 100


def is_transformer(experiment: Experiment) -> bool:
    return experiment.model.name == 'transformer' and is_main_data(experiment)


def is_emb_mlp(experiment: Experiment) -> bool:
    """Trained by AdamW, as in P2."""
    is_model = experiment.model.name == 'emb_mlp' and is_main_data(experiment)
    return is_model and not is_gradient_descent(experiment)


def is_any_emb_mlp(experiment: Experiment) -> bool:
    return experiment.model.name == 'emb_mlp' and is_main_data(experiment)


def is_attention(experiment: Experiment) -> bool:
    """Of one layer or two."""
    is_model = experiment.model.name in ('transformer', 'one_layer')
    return is_model and is_main_data(experiment)


def is_one_layer(experiment: Experiment) -> bool:
    return experiment.model.name == 'one_layer' and is_main_data(experiment)


def is_flow(experiment: Experiment) -> bool:
    return is_any_emb_mlp(experiment) and is_gradient_descent(experiment)


def has_near_labels(experiment: Experiment) -> bool:
    return NEAR in dict(experiment.loop)


def has_groups(experiment: Experiment) -> bool:
    return bool(experiment.task.label_ranges)


def _list_early_and_late(
    source: str, sentence: str, read: Callable[..., Reading]
) -> list[Claim]:
    """A claim about the anchors at the early and at the late snapshot: two rows."""
    rows = []
    for time, words in (('early', 'before reasoning is learned'), ('late', 'late')):
        text = f'{sentence.removesuffix(".")}: {words}.'
        reader = partial(read, time=time)
        rows.append(Claim(source, text, anchor_cosines, is_main_data, reader))
    return rows


CLAIMS = (
    Claim(
        'P2 Fig 3 A',
        'At a large initialization (small γ), the losses of memory and of reasoning '
        'fall at nearly the same rate.',
        learning_order,
        is_transformer,
        learning.read_nearly_identical,
    ),
    Claim(
        'P2 Fig 3 A',
        'At a large initialization, combinations that were masked are not answered.',
        learning_order,
        is_transformer,
        learning.read_test_unlearned,
    ),
    Claim(
        'P2 Fig 3 A',
        'At a small initialization (large γ), the loss of reasoning falls much earlier '
        'than that of memory.',
        learning_order,
        is_transformer,
        learning.read_sums_first,
    ),
    Claim(
        'P2 Fig 3 A',
        'At a small initialization, the loss of masked combinations falls much earlier '
        'than that of memory, too.',
        learning_order,
        is_transformer,
        partial(learning.read_sums_first, probe=TEST),
    ),
    Claim(
        'P2 Fig 3 A',
        'At a small initialization, masked combinations are answered rightly.',
        learning_order,
        is_transformer,
        learning.read_test_learned,
    ),
    Claim(
        'P2 Sec 3',
        'The smaller the initialization, the stronger the bias to reasoning.',
        learning_order,
        is_transformer,
        learning.read_bias_grows,
    ),
    Claim(
        'P2 Fig 3 B',
        'Emb-MLP: at a small initialization, the loss of reasoning falls much earlier '
        'than that of memory.',
        learning_order,
        is_emb_mlp,
        learning.read_sums_first,
    ),
    Claim(
        'P2 Fig 3 B',
        'Emb-MLP: the smaller the initialization, the stronger the bias to reasoning.',
        learning_order,
        is_emb_mlp,
        learning.read_bias_grows,
    ),
    *_list_early_and_late(
        'P2 Figs 4 A, 5 A',
        'At a small initialization, the cosine of two reasoning anchors falls with '
        'their distance.',
        embeddings.read_reasoning_order,
    ),
    *_list_early_and_late(
        'P2 Figs 4 A, 5 A',
        'At a small initialization, all memory anchors are highly similar.',
        embeddings.read_memory_alike,
    ),
    *_list_early_and_late(
        'P2 Figs 4 A, 5 A',
        'At a small initialization, memory anchors are more alike than reasoning '
        'anchors.',
        embeddings.read_memory_less_distinct,
    ),
    Claim(
        'P2 Fig 14',
        'At a large initialization, the embeddings of all anchors are orthogonal.',
        anchor_cosines,
        is_main_data,
        embeddings.read_orthogonal,
    ),
    Claim(
        'P2 Fig 4 B, C',
        'Emb-MLP: the label law has the cosines of the reasoning anchors.',
        label_law,
        is_any_emb_mlp,
        partial(embeddings.read_prediction, kind='reasoning', prediction='label law'),
    ),
    Claim(
        'P2 Fig 4 B, C',
        'Emb-MLP: the label law has the cosines of all anchors together.',
        label_law,
        is_any_emb_mlp,
        partial(embeddings.read_prediction, kind='both', prediction='label law'),
    ),
    Claim(
        'P2 Sec 4, tested',
        'Emb-MLP: gradient flow through its own matrices has the cosines of all '
        'anchors.',
        label_law,
        is_any_emb_mlp,
        partial(embeddings.read_prediction, kind='both', prediction='matrices'),
    ),
    Claim(
        'P2 Fig 5 C',
        "P2's closed form has the cosines of the reasoning anchors.",
        label_law,
        is_attention,
        partial(embeddings.read_prediction, kind='reasoning', prediction='closed form'),
    ),
    Claim(
        'P2 Fig 5 D',
        "P2's closed form has the cosines of the keys.",
        label_law,
        is_attention,
        partial(embeddings.read_prediction, kind='keys', prediction='closed form'),
    ),
    Claim(
        'P2 Fig 5 C, tested',
        'Attention: the label law has the cosines of all anchors together.',
        label_law,
        is_attention,
        partial(embeddings.read_prediction, kind='both', prediction='label law'),
    ),
    Claim(
        'P2 Sec 5, tested',
        'One layer: gradient flow through its own matrices has the cosines of all '
        'anchors.',
        label_law,
        is_one_layer,
        partial(embeddings.read_prediction, kind='both', prediction='matrices'),
    ),
    Claim(
        'P2 Fig 5 B',
        'Reasoning anchors are in numerical order along the principal components.',
        embedding_pca,
        is_transformer,
        partial(embeddings.read_value_order, kind='reasoning'),
    ),
    Claim(
        'P2 Fig 5 B',
        'Keys are in numerical order along the principal components.',
        embedding_pca,
        is_transformer,
        partial(embeddings.read_value_order, kind='keys'),
    ),
    Claim(
        'P2 Fig 5 B',
        'Memory anchors lie together.',
        embedding_pca,
        is_transformer,
        embeddings.read_memory_together,
    ),
    Claim(
        'P2 Fig 6',
        'At a small initialization, the first attention averages: it is 1/i.',
        first_attention,
        is_attention,
        networks.read_average,
    ),
    Claim(
        'P2 Fig 6',
        'The first W_V has one singular value much larger than all others.',
        first_attention,
        is_attention,
        networks.read_one_large_value,
    ),
    Claim(
        'P2 Fig 6',
        'Its first vector lies along reasoning anchors, and orthogonal to memory '
        'anchors.',
        first_attention,
        is_attention,
        networks.read_alignment,
    ),
    Claim(
        'P2 Fig 6',
        'The second attention reads the key, and finds it by its position.',
        first_attention,
        is_transformer,
        networks.read_key,
    ),
    Claim(
        'P2 Fig 8 right',
        'Early answers never leave the range of labels of their group.',
        label_groups,
        has_groups,
        networks.read_own_range,
    ),
    Claim(
        'P2 Fig 8 left',
        'Memory labels near the key are learned earlier than uniform ones.',
        learning_order,
        has_near_labels,
        learning.read_near_labels,
        is_joint=True,
    ),
    Claim(
        'Ours, on P2 Sec 4',
        "P2's linear equation predicts the embedding for longer at a small "
        'initialization.',
        theory_path,
        is_flow,
        partial(networks.read_flow_lasts, flow='frozen'),
    ),
    Claim(
        'Ours, on P2 Sec 4',
        'So does the flow in which all matrices move and what is learned counts.',
        theory_path,
        is_flow,
        partial(networks.read_flow_lasts, flow='feedback'),
    ),
)
