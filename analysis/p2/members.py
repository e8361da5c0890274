"""The networks of runs of P2's tasks: what they answer, learn first, and look like.

Numbers of snapshots are of the early one, except where a column says otherwise; see
`networks`, and `reasoning_bias` for the mixture.
"""

import numpy as np
import pandas as pd
import xarray as xr

from analysis.members.selection import require_task
from analysis.p2 import (
    anchor_cosines,
    first_attention,
    label_groups,
    label_law,
    learning_order,
    networks,
    reasoning_bias,
    theory_path,
)
from anchorjax.storage.reader import Run
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig
from anchorjax.tasks.mixture import SOURCES, MixtureConfig, read_mixture

# By name: a number of each network [member], or one for all.
Columns = dict[str, xr.DataArray | float]

OF_NETWORK = (
    'setting',  # 'seq_len=9': the axes that vary, but gamma and seed; '' if none
    'gamma',
    'seed',
    'train_loss',  # at the end, nats
    'converged',
)
# The columns of the mixture, each with a column per source. A moment is the step at
# which a loss falls below its threshold, inf: never.
OF_SOURCES = ('loss', 'heldout', 'moment', 'cosine_early', 'cosine_late')
COLUMNS = (
    *OF_NETWORK,
    'num_steps',  # of training
    'early',  # step of the early snapshot
    'memory',  # accuracy at the end, by eval set
    'reasoning_train',
    'reasoning_test',
    'moment_memory',  # step at which the loss has fallen (learning_order), inf: never
    'moment_reasoning_train',
    'moment_reasoning_test',
    'order_untrained',  # rank correlation of cosine and distance, reasoning anchors
    'order_early',
    'memory_cosine',  # of two memory anchors
    'reasoning_cosine',
    'abs_cosine_late',  # mean |cosine| of two anchors of a kind, both kinds
    'law_untrained',  # correlation of the label law with the cosines of all anchors
    'law',
    'closed_form',  # of P2's closed form with those of reasoning anchors
    'attention_distance',  # of the first attention from 1/i
    'attention_random',  # of rows at random
    'aligned_memory',  # |cosine| of the first vector of its W_V with memory anchors
    'aligned_reasoning',
    'key',  # attention of layer 2 to the key, at the end
    'key_blind',  # with all positions alike
    'own_range',  # lowest share of early answers in the range of their group
    'null_own_range',  # share of the answers of the widest group in other ranges
    'frozen_until',  # step until which P2's linear equation predicts the embedding
    'mean_delta',  # Delta L, mean over training
    'last_delta',
    'delta_of_counting',  # of the label entropies
    *[f'{name}_{source}' for name in OF_SOURCES for source in SOURCES],
    *[f'label_entropy_{source}' for source in SOURCES],
    *[f'bigram_entropy_{source}' for source in SOURCES],
)


def tabulate(run: Run) -> pd.DataFrame:
    """A row per trained network that did not diverge; NaN: not about this run.

    Raises:
      UserError: another task, or no trained network.
    """
    if run.experiment.task.name == reasoning_bias.TASK:
        columns = describe_sources(run)
    else:
        columns = describe_anchors(run)
    columns['num_steps'] = run.experiment.train.num_steps
    table = pd.DataFrame(columns)
    return table.reindex(columns=list(COLUMNS))


def describe_sources(run: Run) -> Columns:
    """The columns of a mixture of PrOntoQA and stories."""
    found = reasoning_bias.compute(run)
    mixture = read_mixture(require_task(run.experiment.task, MixtureConfig))
    columns = {name: found[name] for name in OF_NETWORK}
    columns |= {
        'early': found.early,
        'mean_delta': networks.average_training(found.delta),
        'last_delta': found.delta[:, -1],
        'delta_of_counting': found.delta_of_counting,
    }
    for source in SOURCES:
        of_source = found.sel(source=source)
        sequences = mixture.sequences[source]
        columns |= {
            f'loss_{source}': of_source.loss[:, -1],
            f'heldout_{source}': of_source.heldout[:, -1],
            f'moment_{source}': of_source.moment.fillna(np.inf),
            f'cosine_early_{source}': of_source.cosine.sel(snapshot=found.early),
            f'cosine_late_{source}': of_source.cosine[:, -1],
            f'label_entropy_{source}': float(of_source.entropy),
            f'bigram_entropy_{source}': sequences.measure_bigram_entropy(),
        }
    return columns


def describe_anchors(run: Run) -> Columns:
    """The columns of P2's own task."""
    found = learning_order.compute(run)
    columns = {name: found[name] for name in OF_NETWORK}
    # A task without masked combinations has no losses on them.
    is_asked = found.loss[:, -1].notnull()
    moments = found.moment.fillna(np.inf).where(is_asked)
    for eval_set in found.eval_set.values:
        columns[eval_set] = found.accuracy[:, -1].sel(eval_set=eval_set)
        columns[f'moment_{eval_set}'] = moments.sel(eval_set=eval_set)
    columns |= describe_embeddings(run)
    experiment = run.experiment
    if experiment.model.name in ('transformer', 'one_layer'):
        columns |= describe_attention(run)
    if require_task(experiment.task, MemoryReasoningConfig).label_ranges:
        found = label_groups.compute(run)
        early = found.where(label_groups.find_early_answers(found))
        columns['own_range'] = early.own.min(('step', 'group'))
        columns['null_own_range'] = early.null.mean(('step', 'group'))
    # AdamW without moments and with a huge eps is gradient descent: the preset flow.
    if experiment.model.name == 'emb_mlp' and experiment.optimizer.b1 == 0:
        until = theory_path.compute(run).holds_until
        columns['frozen_until'] = until.sel(flow='frozen')
    return columns


def describe_embeddings(run: Run) -> Columns:
    """What the cosines of the anchors show."""
    found = anchor_cosines.compute(run)
    early = found.sel(step=found.early)
    late = found.sel(step=found.late)
    law = label_law.compute(run).correlation
    of_both = law.sel(kind='both', prediction='label law')
    closed_form = law.sel(kind='reasoning', prediction='closed form')
    return {
        'early': found.early,
        'order_untrained': found.rho.sel(step=0, kind='reasoning'),
        'order_early': early.rho.sel(kind='reasoning'),
        'memory_cosine': early['mean'].sel(kind='memory'),
        'reasoning_cosine': early['mean'].sel(kind='reasoning'),
        'abs_cosine_late': late.mean_abs.mean('kind'),
        'law_untrained': of_both.sel(step=0),
        'law': of_both.sel(step=found.early),
        'closed_form': closed_form.sel(step=found.early),
    }


def describe_attention(run: Run) -> Columns:
    """What both attentions and the first W_V show."""
    found = first_attention.compute(run)
    early = found.sel(step=found.early)
    return {
        'attention_distance': early.distance,
        'attention_random': early.random_distance,
        'aligned_memory': early.alignment.sel(kind='memory'),
        'aligned_reasoning': early.alignment.sel(kind='reasoning'),
        'key': found.key[:, -1],
        'key_blind': found.key_without_positions[:, -1],
    }
