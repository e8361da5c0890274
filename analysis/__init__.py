"""Figures and claims of trained sweeps.

The packages, lowest first; imports go down only (tests/repository/test_imports.py):

  members     which members of a sweep to analyze, how to open one, what they end at
  tables      the folders that a table reads; tables as Markdown and CSV
  changes     how far a network has moved in training, and when
  circuits    causal tests: edges of attention are cut, or activations replaced
  spectra     how few directions a matrix uses
  theory      what gradient flow predicts of networks that start small (P2)
  vectors     vectors inside a network: their order, their groups
  drawing     how figures look
  text_tasks  P1's real tasks
  p1          the anchor task: initialization decides the solution
  p2          does a small initialization learn reasoning before memory?
  p3          the anchor task under weight decay, and complexity
  p4          when must weight decay act?
  law         the designed experiment: which factors decide the solution
  report      one HTML page about a run

The packages p1 to p4, text_tasks and law have their record, a file for each figure and
claims.py. Beside them: papers (which there are), frame (members as a table), stats,
estimates (the number of a claim), claims (the rule of verdicts), claim_words, figure
(the command), first_look (what a sweep shows when it ends).

Shape suffixes besides those of the package anchorjax. Some figures use a letter
otherwise; the docstring of their Result says so.

  A  ordered pair of anchors     C  set of edges left in a network
  E  edge                        G  value of gamma
  I  index in a spectrum         J  role of a position
  L  position that is patched    U  what differs between two sequences
  X  key item                    Y  row of a grid
"""

import contextlib
import os
import sys


def _import_matplotlib() -> None:
    """Imports it under any MPLBACKEND; pictures of this package need no backend.

    The shell of a notebook names one that our environment may lack, and such a name
    lets matplotlib 3.11 raise an error where it is imported. A name that it knows
    stays the reader's choice.
    """
    backend = os.environ.pop('MPLBACKEND')
    import matplotlib

    os.environ['MPLBACKEND'] = backend
    with contextlib.suppress(ValueError):
        matplotlib.rcParams['backend'] = backend


if 'MPLBACKEND' in os.environ and 'matplotlib' not in sys.modules:
    _import_matplotlib()
