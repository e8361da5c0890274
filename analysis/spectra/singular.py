"""Singular values of every matrix, at a large and at a small initialization (P1 Fig 13).

Small initializations leave few large ones; the paper's caption exchanges the two colours. These
panels are a part of the figure that `eigenvalues` draws.
"""

import numpy as np

INITIALIZATIONS = (
    ('large', '#D55E00'),
    ('small', '#0072B2'),
)  # in the order of `extremes`


def kinds(matrix_names) -> list[str]:
    """Names of matrices whatever their block: one panel each."""
    return list(dict.fromkeys(name.split('/')[-1] for name in matrix_names))


def draw(panels, result) -> None:
    """Fills panels with one kind of matrix each, and blanks the rest.

    `result` has matrix_names [N], extremes [2] (gamma) and singular_2NI, as `eigenvalues.Result`.
    """
    found = kinds(result.matrix_names)
    for i, axis in enumerate(panels):
        _spectra(axis, result, found[i]) if i < len(found) else axis.set_axis_off()
    panels[0].legend()


def _spectra(axis, result, kind: str) -> None:
    """A line for each block, later ones thinner."""
    chosen = [
        i for i, name in enumerate(result.matrix_names) if name.split('/')[-1] == kind
    ]
    index = np.arange(result.singular_2NI.shape[-1]) + 1
    for x, (size, colour) in enumerate(INITIALIZATIONS):
        named = f'{size} init. (γ {result.extremes[x]:g})'
        for layer, i in enumerate(chosen):
            look = {
                'color': colour,
                'lw': 1.5 / (1 + layer),
                'label': None if layer else named,
            }
            axis.plot(index, result.singular_2NI[x, i], **look)
    axis.set(yscale='log', title=f'singular values, {kind}')
