"""What a sweep of any task measures, and which of its members count.

All that are trained and did not diverge: converged or not, they have one mean wherever
it is shown, that of the claims. How many have converged stands beside it.

A loss decides whether a network has learned its training data: that on the answers of
training examples, of the parameters at the last step (`fit_loss` of the results).
"""

from typing import NamedTuple

from anchorjax.experiment import Experiment
from anchorjax.storage.reader import Run

AGREEMENT = 'agreement'  # share of sequences answered as a mapping does
TOKENS = 'token_agreement'  # share of right tokens
LOSS = 'eval_set_loss'  # nats a scored token
DECIDING_LOSS = 'loss on training examples'


class Measure(NamedTuple):
    """A number of every member: what is recorded about one eval set."""

    source: str  # AGREEMENT, TOKENS or LOSS: a variable of the results
    eval_set: str
    mapping: str  # '' for a loss

    @property
    def column(self) -> str:
        """Its name in `Run.members`: 'test_assigned', 'test_tokens', 'loss_test'."""
        if self.source == TOKENS:
            return f'{self.eval_set}_tokens'
        if self.source == LOSS:
            return f'loss_{self.eval_set}'
        return f'{self.eval_set}_{self.mapping}'


def list_measures(run: Run) -> list[Measure]:
    """Every mapping on every eval set; then the tokens of answers that are texts.

    Of a task that is text alone: the tokens and the loss of every eval set. The eval
    sets are those of the results: a task may have more of them in some cohorts than in
    others.
    """
    task = run.experiment.task.make()
    answers = []
    tokens = []
    losses = []
    for eval_set in run.results.eval_set.values.tolist():
        for mapping in run.results.mapping.values.tolist():
            answers.append(Measure(AGREEMENT, eval_set, mapping))
        tokens.append(Measure(TOKENS, eval_set, task.trained_mapping))
        losses.append(Measure(LOSS, eval_set, ''))
    if task.is_language_modeling:
        return tokens + losses
    return answers if task.last_only else answers + tokens


def count_epoch(experiment: Experiment) -> int:
    """Steps of an epoch, whose last, partial batch is dropped: 370 in P1."""
    return experiment.task.make().num_train // experiment.train.batch_size


def describe_criterion(experiment: Experiment) -> str:
    """'loss on training examples at most 0.02'."""
    return f'{DECIDING_LOSS} at most {experiment.train.converged_loss:g}'
