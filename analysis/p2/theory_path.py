"""Until when does gradient flow predict the embedding? (beyond P2)

The flow is integrated from the member's own initialization and the moments of its own
data; nothing is fitted. Three of them (`analysis/theory/trajectories.py`):

  frozen    P2's equation: the other matrices stay, all labels stay equally likely
  coupled   all matrices move
  feedback  they move, and what is learned is learned no more, to first order

The error is the distance of predicted and measured embeddings by the distance that they
went from the start: 0 exact, 1 as bad as no movement. Training sees batches and not the
whole data, which alone gives an error that falls about as 1 / sqrt(step); `sampling` is
its expectation for the frozen flow. A flow holds until a snapshot if its error is at
most the limit (0.1) above that, there and at all snapshots before.

  python -m analysis theory_path --run runs/memory_reasoning_flow
"""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis import frame, spectra
from analysis.drawing import style
from analysis.drawing.bands import draw_band
from analysis.p2 import networks
from analysis.p2.networks import COLOURS, SINGLE_KINDS, list_panels
from analysis.theory import trajectories
from analysis.theory.label_law import Examples, count_laws, read_examples
from analysis.theory.trajectories import FLOWS, Weights
from anchorjax.errors import UserError
from anchorjax.network import Network
from anchorjax.storage.reader import Run

TITLE = 'Paths of gradient flow'
PAPER = 'beyond P2'
CAPTION = (
    'Until when does gradient flow predict the embedding? The error of three flows '
    'over training: below the grey line a flow holds. Under it the paths of memory '
    'anchors (blue), reasoning anchors (green) and keys (yellow), measured and '
    'predicted.'
)
FLOW_COLOURS = dict(zip(FLOWS, ('#D55E00', '#0072B2', '#009E73'), strict=True))
LIMIT = 0.1  # error up to which a flow holds
BATCHES = 20  # to see how much they differ


@spectra.single_thread
def compute(run: Run) -> xr.Dataset:
    """Measured and predicted embeddings of every network at the snapshots.

      error        [member, flow, step]; inf where the flow is infinite
      sampling     [member, step] error that batches alone would give
      holds_until  [member, flow] step; 0: not even the first snapshot
      measured     [member, step, token, axis] of some tokens, their `kind_of` [token],
                   in a plane of the measured movement
      predicted    [member, flow, step, token, axis] in the same plane

    Raises:
      UserError: another task or model.
      ConfigError: training that is no gradient descent.
    """
    members = frame.list_usable(run, networks.TASK)
    model = run.experiment.model.name
    if model != 'emb_mlp':
        raise UserError(f"model {model!r}: the flow is of 'emb_mlp'")
    steps = networks.find_snapshots(run, members)
    found = []
    for untrained, *path in networks.open_paths(run, members, [0, *steps]):
        found.append(_compare_paths(untrained, path))
    result = networks.gather(run, members, found)
    is_near = result.error <= LIMIT + result.sampling
    return result.assign(holds_until=find_last_step(is_near))


def _compare_paths(untrained: Network, path: list[Network]) -> xr.Dataset:
    """What `compute` needs of one network, at snapshots."""
    experiment, point = untrained.experiment, untrained.point
    steps = [member.step for member in path]
    rate = point['learning_rate']
    times = trajectories.flow_time(experiment, np.array(steps), rate)
    tokens_of = networks.list_tokens(experiment.task)
    rows_of = {kind: tokens_of[kind] for kind in SINGLE_KINDS}
    tokens, kinds = choose_tokens(rows_of)
    rows = np.concatenate(list(rows_of.values()))

    start = Weights(*[untrained.matrix(name) for name in Weights._fields])
    examples = read_examples(experiment.task, point['seed'])
    moments = trajectories.measure_moments(examples, experiment.task.vocab)
    paths = []
    for flow in FLOWS.values():
        weights_S = trajectories.integrate(flow, moments, start, times)
        paths.append([weights.W_embed for weights in weights_S])
    predicted_FSVD = np.array(paths)
    matrices = [member.matrix('W_embed') for member in path]
    measured_SVD = np.array(matrices, np.float64)

    ends = (measured_SVD[:, rows], start.W_embed[rows])
    error = trajectories.displacement_error(predicted_FSVD[:, :, rows], *ends)
    measured = measured_SVD[:, tokens] - start.W_embed[tokens]
    predicted = predicted_FSVD[:, :, tokens] - start.W_embed[tokens]
    plane_2D = find_plane(measured)
    noise = measure_batches(examples, start, rows, experiment.train.batch_size)
    ratio = noise / np.sqrt(steps)
    with np.errstate(invalid='ignore', over='ignore'):
        numbers = {
            'error': (('flow', 'step'), error),
            'sampling': ('step', ratio / np.sqrt(1 + ratio**2)),
            'measured': (('step', 'token', 'axis'), measured @ plane_2D.T),
            'predicted': (('flow', 'step', 'token', 'axis'), predicted @ plane_2D.T),
        }
    labels = {'flow': list(FLOWS), 'step': steps}
    labels |= {'token': tokens, 'kind_of': ('token', kinds)}
    return xr.Dataset(numbers, labels)


def measure_batches(
    examples: Examples, start: Weights, rows: np.ndarray, batch_size: int
) -> float:
    """By how much batches differ from all examples in the frozen flow.

    Root mean square of the deviation of a batch by the drift, n. The mean of so many
    batches as steps has 1 / sqrt(step) of it. What is measured moves by drift and
    deviation together, so that the error of the flow is n / sqrt(1 + n^2).
    """
    vocab = len(start.W_embed)
    W_12 = start.W_1 @ start.W_2
    drift_AD = count_laws(*examples, vocab).residual_VV[rows] @ W_12.T
    rng = np.random.default_rng(0)
    deviations = []
    for _ in range(BATCHES):
        chosen = rng.integers(len(examples.label_B), size=batch_size)
        batch = (examples.tokens_BT[chosen], examples.label_B[chosen])
        drawn_AD = count_laws(*batch, vocab).residual_VV[rows] @ W_12.T
        deviations.append(np.linalg.norm(drawn_AD - drift_AD))
    mean_square = np.square(deviations).mean()
    return float(np.sqrt(mean_square) / np.linalg.norm(drift_AD))


def find_last_step(holds: xr.DataArray) -> xr.DataArray:
    """The last step before the first at which something [..., step] fails; 0: none."""
    has_failed = (~holds).cumsum('step') > 0
    return holds.step.where(~has_failed, 0).max('step')


def find_plane(moved_SAD: np.ndarray) -> np.ndarray:
    """Two orthonormal directions [2, D] that hold most of some movements."""
    rows = moved_SAD.reshape(-1, moved_SAD.shape[-1])
    _, _, directions = np.linalg.svd(rows, full_matrices=False)
    return directions[:2]


def choose_tokens(tokens_of: dict[str, np.ndarray]) -> tuple[list[int], list[str]]:
    """The first, middle and last token of every kind, and their kinds."""
    tokens = []
    kinds = []
    for kind, of_kind in tokens_of.items():
        tokens += of_kind[[0, len(of_kind) // 2, -1]].tolist()
        kinds += [kind] * 3
    return tokens, kinds


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: the error by step, and the paths of the first seed.

    Below: dots are measured, lines are predicted by the last of the flows that holds
    longest; colours are kinds of tokens.
    """
    for column, (title, panel) in enumerate(list_panels(result).items()):
        errors, paths = axes[:, column]
        until = panel.holds_until.median('member').to_series()
        words = []
        for flow, step in until.items():
            words.append(f'{flow} {step:,.0f}')
        _draw_errors(errors, panel)
        listed = ', '.join(words)
        errors.set_title(f'{title}; holds until\n{listed}', fontsize=6)
        best = until.index[until == until.max()][-1]
        _draw_paths(paths, panel.isel(member=0).sel(flow=best))
    axes[0, 0].set_ylabel('error of the embedding')
    axes[0, 0].legend(fontsize=5)


def _draw_errors(axis: Axes, panel: xr.Dataset) -> None:
    for flow, colour in FLOW_COLOURS.items():
        error_MS = panel.error.sel(flow=flow).clip(1e-4, 1e2).values
        draw_band(axis, panel.step, error_MS, colour, flow)
    allowed_S = LIMIT + panel.sampling.mean('member')
    axis.plot(panel.step, allowed_S, color='#BBBBBB', lw=0.8, label='allowed')
    axis.axhline(1, color='#BBBBBB', lw=0.8, ls=':')
    axis.set(xscale='log', yscale='log', xlabel='step')


def _draw_paths(axis: Axes, network: xr.Dataset) -> None:
    """One network, and the path of one flow."""
    largest = 1.5 * float(np.abs(network.measured).max())
    for token in network.token.values:
        of_token = network.sel(token=token)
        colour = COLOURS[str(of_token.kind_of.item())]
        x, y = of_token.measured.values.T
        axis.plot(x, y, '.', ms=3, color=colour)
        axis.annotate(str(token), (x[-1], y[-1]), fontsize=5, color=colour)
        path = of_token.predicted.values
        is_inside = (np.abs(path) < largest).all(-1)
        axis.plot(*path[is_inside].T, '-', lw=0.8, color=colour)
    axis.set(xticks=[], yticks=[])
    axis.set_title(f'measured (dots), {network.flow.item()} (lines)', fontsize=6)


def layout(result: xr.Dataset) -> style.Layout:
    columns = len(list_panels(result))
    return style.Layout(2, columns, 0.5 + 2.3 * columns, 4.6)
