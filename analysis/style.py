"""How every figure looks: one colour per mapping, embedded fonts, the same bytes every time."""

import contextlib
import pathlib

import matplotlib

matplotlib.use('Agg')

from matplotlib import pyplot as plt

# Okabe and Ito's colours, distinguishable with any colour vision.
COLOURS = {
    'inferential': '#0072B2',
    'symmetric': '#E69F00',
    'memorizing': '#999999',
    'other': '#CC79A7',
}
MAPS = {'inferential': 'Blues', 'symmetric': 'Oranges'}
_RC = {
    'font.size': 8,
    'axes.titlesize': 8,
    'axes.labelsize': 8,
    'legend.fontsize': 7,
    'legend.frameon': False,
    'figure.dpi': 150,
    'savefig.dpi': 200,
    'pdf.fonttype': 42,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'hatch.linewidth': 0.6,
}


def paper():
    """The context in which every figure is drawn."""
    return plt.rc_context(_RC)


def save(figure, path: pathlib.Path) -> list[pathlib.Path]:
    """Writes path.png and path.pdf without time stamps: the same figure is the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    png, pdf = path.with_suffix('.png'), path.with_suffix('.pdf')
    figure.savefig(png, metadata={'Software': None}, bbox_inches='tight')
    figure.savefig(pdf, metadata={'CreationDate': None}, bbox_inches='tight')
    plt.close(figure)
    return [png, pdf]


@contextlib.contextmanager
def figure(rows: int, columns: int, **kwargs):
    """(figure, axes [rows, columns]) in the paper's style."""
    with paper():
        fig, axes = plt.subplots(rows, columns, squeeze=False, layout='constrained', **kwargs)
        yield fig, axes
