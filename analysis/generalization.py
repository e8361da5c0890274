"""Do networks generalize on real tasks, and is it gamma or decay? (P1 Figs 6, 7, 17 a.)

Exact match of whole answers by the size of the training set, for every gamma and decay,
on training examples, on held-out ones of the same kind, and on what is never trained:
the square of operands (addition), commands with `turn left` (SCAN), the 21 cases
(COGS), new questions (PrOntoQA). Grey: what answers without generalizing
(analysis/real/baselines.py). Open dots are members that have not converged.

Right: the step at which the loss falls below `train.converged_loss`
(analysis/real/members.py), and what gamma and decay each do, seed by seed, at the
largest size.

  python analysis/generalization.py --run runs/addition
"""

import numpy as np

from analysis.drawing import command, style
from analysis.members.convergence import describe_criterion
from analysis.members.selection import count_diverged
from analysis.real import panels
from analysis.real.baselines import score_baselines
from analysis.real.members import list_points, tabulate_members
from analysis.real.result import Result
from anchorjax.storage.reader import Run


def compute(run: Run) -> Result:
    """What all trained members answer; needs no snapshots.

    Raises:
      UserError: another task, or no trained member.
    """
    points = list_points(run)
    results = run.results.sel(mapping='assigned')
    probes = results.probe.values.tolist()
    agreements, losses, by_groups, scores = [], [], [], []
    for point in points:
        member = results.sel(run.labels(**point)).squeeze()
        agreements.append(member.agreement.transpose('probe').values)
        losses.append(member.probe_loss.transpose('probe').values)
        by_groups.append(member.agreement_by_group.transpose('probe', 'group').values)
        config = run.experiment_of(**point).task
        scores.append(score_baselines(config, point['seed']))
    baselines = list(dict.fromkeys(name for score in scores for name in score))
    loss_MP = np.array(losses)
    return Result(
        task=run.experiment.task.name,
        members=tabulate_members(run, points),
        criterion=describe_criterion(run.experiment),
        diverged=count_diverged(run),
        last_step=run.experiment.train.num_steps,
        probe=np.array(probes),
        agreement_MP=np.array(agreements),
        loss_MP=loss_MP,
        perplexity_MP=np.exp(loss_MP),
        group=results.group.values.astype(str),
        agreement_MPG=np.array(by_groups),
        baseline=np.array(baselines),
        baseline_KMP=_arrange_scores(scores, baselines, probes),
    )


def _arrange_scores(
    scores: list[dict[str, dict[str, float]]], baselines: list[str], probes: list[str]
) -> np.ndarray:
    """[K, M, P]; NaN where a baseline says nothing about a probe."""
    score_KMP = np.full((len(baselines), len(scores), len(probes)), np.nan)
    for m, of_member in enumerate(scores):
        for name, of_probe in of_member.items():
            for probe, score in of_probe.items():
                score_KMP[baselines.index(name), m, probes.index(probe)] = score
    return score_KMP


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2 settings, probes + 1]: agreements above, groups below."""
    settings = dict.fromkeys(result.members['setting'].tolist())
    for row, setting in enumerate(settings):
        is_here_M = result.members['setting'] == setting
        above, below = axes[2 * row], axes[2 * row + 1]
        for p, probe in enumerate(result.probe):
            panels.draw_agreements(above[p], result, p, is_here_M)
            above[p].set_title(' '.join([probe, setting]).strip())
            panels.draw_groups(below[p], result, p, is_here_M)
        panels.draw_moments(above[-1], result, is_here_M)
        panels.draw_effects(below[-1], result, is_here_M)
        above[0].set_ylabel('exact match')
    panels.draw_legend(axes[0, 0], result)
    axes[0, 0].figure.suptitle(panels.describe(result), fontsize=8)


def layout(result: Result) -> style.Layout:
    settings = len(dict.fromkeys(result.members['setting'].tolist()))
    columns = len(result.probe) + 1
    tallest = max(len(result.group), 4)
    height = settings * (2.4 + 0.17 * tallest)
    return style.Layout(2 * settings, columns, 0.8 + 2.5 * columns, height + 0.6)


if __name__ == '__main__':
    command.run_sweep_figure(__doc__, 'generalization', compute, draw, layout)
