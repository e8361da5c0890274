"""The networks of P3's sweeps: their answers, their weights, their time to fit.

The phases of P3 are by our thresholds; the first that fits is taken:

  3    reasoning: composed >= 0.9 on the unseen pair, and held-out >= 0.9
  1    held-out < 0.9: it does not generalize on seen pairs
  2b   the unseen pair and its reverse get the same answer in >= 0.9 of sequences
  2a   they do not

P3 takes held-out questions of one pair, and the maximum over epochs.
"""

import numpy as np
import pandas as pd

from analysis import frame
from analysis.circuits.sequences import require_anchor_task
from analysis.p1 import condensation, embedding
from analysis.p3 import fitting_time
from analysis.spectra import stable_rank
from anchorjax.errors import UserError
from anchorjax.grid import WINDOWS
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors

PHASES = ('1', '2a', '2b', '3')
ENOUGH = 0.9  # of every threshold of the phases
SEQUENCES = 256  # of the unseen pair, to exchange its anchors in
ENDS = (
    'converged',
    'train_loss',
    'seen_heldout_assigned',
    'unseen_composed',
    'gamma_at_400',  # the γ of the same standard deviation at P1's width
)
# What the claims read: NaN where a sweep has no such axis or number.
COLUMNS = (
    *('gamma', 'learning_rate', 'weight_decay', 'depth', 'complexity', 'seed'),
    *ENDS,
    *('best_record', 'commutativity', 'chance', 'stable_rank', 'directions', 'order'),
    *('phase', 'epochs_0.05', 'epochs_0.1', 'last_epoch'),
)


def tabulate(run: Run) -> pd.DataFrame:
    """A row per trained network that did not diverge: its other axes, and COLUMNS.

    Sweeps of inferential complexity have the columns of `measure_times`, all others
    those of `measure_networks`.

    Raises:
      UserError: another task, or there is no such network.
    """
    members = frame.add_equivalents(run, frame.list_usable(run, 'anchors'))
    if 'complexity' in run.experiment.axes:
        more = measure_times(run)
    else:
        more = measure_networks(run, members)
    others = set(run.experiment.axes) - {*COLUMNS, WINDOWS}
    return members.join(more).reindex(columns=[*sorted(others), *COLUMNS])


def measure_networks(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """What the curves and the last snapshot of these networks show, by their index.

      best_record    the largest composed agreement of all records: an oracle, which
                     stops each network when it answers the test best, as P3 does
      commutativity  share of sequences in which the reversed pair gets the same answer
      chance         the same of another pair
      stable_rank    of W_Q
      directions     groups of neurons of W_Q (P1 Fig 10)
      order          rank correlation of the embedding with the key's value
      phase          place in PHASES

    Raises:
      UserError: a task without an unseen pair of two anchors.
    """
    if 'unseen' not in run.results.eval_set.values:
        raise UserError('decay_map: the task has no unseen pair')
    composed = run.curves.agreement.sel(eval_set='unseen', mapping='composed')
    best = frame.select_members(run, members, composed.max('step'))
    rows = []
    for _, member in frame.open_networks(run, members, 'decay_map'):
        rows.append(_measure_network(member))
    table = pd.DataFrame(rows, members.index)
    table.insert(0, 'best_record', best.values)
    phases = []
    shares = members[['seen_heldout_assigned', 'unseen_composed']]
    for row in shares.join(table.commutativity).to_numpy():
        phases.append(find_phase(*row))
    return table.assign(phase=phases)


def find_phase(heldout: float, composed: float, commutativity: float) -> int:
    """The phase as an index into PHASES; agreements are recorded in float32."""
    numbers = np.array([heldout, composed, commutativity], np.float32)
    generalizes, composes, commutes = (numbers >= np.float32(ENOUGH)).tolist()
    if generalizes and composes:
        return PHASES.index('3')
    if not generalizes:
        return PHASES.index('1')
    return PHASES.index('2b' if commutes else '2a')


def measure_times(run: Run) -> pd.DataFrame:
    """When networks have fitted their data, in epochs, by their place in the sweep.

    epochs_0.05, epochs_0.1  until the train loss falls below so much; NaN: never
    last_epoch               the end of training
    """
    times = fitting_time.compute(run)
    table = times.epoch.to_pandas()
    table.columns = [f'epochs_{threshold:g}' for threshold in table]
    table['last_epoch'] = times.last_epoch.item()
    return table


def _measure_network(member: Network) -> dict[str, float]:
    """What the last snapshot shows."""
    return {
        **measure_commutativity(member),
        'stable_rank': stable_rank(member.matrix(condensation.MATRIX)),
        'directions': condensation.count_directions(member),
        'order': embedding.correlate_with_value(member),
    }


def measure_commutativity(member: Network) -> dict[str, float]:
    """How often a reversed pair and others get the answer of the first unseen pair.

    P3 does not define commutativity (Fig 3, PAPERS 3.3). Here both are shares of the
    sequences of the pair's eval set, with key and noise as they are, right or not:

    commutativity  that get the same answer when their two anchors change places
    chance         the same with another pair in their place, mean of all pairs

    Raises:
      UserError: the task has no unseen pair of two different anchors.
    """
    task = require_anchor_task(member)
    unseen = task.unseen_pairs
    if not unseen or unseen[0][0] == unseen[0][1]:
        raise UserError('commutativity: needs an unseen pair of two different anchors')
    pair = unseen[0]
    eval_set = member.task.eval_set_names.index('unseen')
    tokens_BT = member.eval_sets.tokens_PBT[eval_set, :SEQUENCES]
    role_BT = member.roles(tokens_BT)
    is_first_BT = role_BT == anchors.ROLES.index('anchor_1')
    is_second_BT = role_BT == anchors.ROLES.index('anchor_2')
    answers = {}
    for first, second in anchors.list_pairs(task).tolist():
        asked_BT = np.where(is_first_BT, first, tokens_BT)
        asked_BT = np.where(is_second_BT, second, asked_BT)
        answers[first, second] = member.answer(asked_BT)
    own_B = answers.pop(pair)
    reversed_B = answers.pop(pair[::-1])
    chances = []
    for other_B in answers.values():
        chances.append(np.mean(own_B == other_B))
    return {
        'commutativity': float(np.mean(own_B == reversed_B)),
        'chance': float(np.mean(chances)),
    }
