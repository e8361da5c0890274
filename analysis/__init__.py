"""Figures of a sweep on disk: compute(...) -> Result (arrays), draw(result, axes).

The packages, lowest first; imports go down only (tests/repository/test_imports.py):

  members    which members of a sweep to analyze, how to open one, what they end at
  tables     the folders that a table reads; tables as Markdown and CSV
  changes    how far a network has moved in training, and when
  circuits   causal tests: edges of attention are cut, or activations replaced
  spectra    how few directions a matrix uses
  theory     what gradient flow predicts of networks that start small (P2)
  vectors    vectors inside a network: their order, their neighbours
  claims     what a claim about runs can come to, by which rule; tables of claims
  drawing    how figures look
  designs    the designed experiment: what decides the solution
  families   P1 and P3: four families of experiments on the anchor task
  real       P1's real tasks
  p2         P2: does a small start learn sums before facts?
  p4         P4: when must weight decay act?
  report     one HTML page about a run

A file beside the packages is a figure or a command line. Claims read figures: `report`,
and in other packages `readings` and the lists of claims, stand above the figures; all
else in a package stands below them.

Shape suffixes besides those of the package anchorjax. Some figures use a letter
otherwise; the docstring of their Result says so.

  A  ordered pair of anchors     C  set of edges left in a network
  E  edge                        G  value of gamma
  I  index in a spectrum         J  role of a position
  L  position that is patched    U  what differs between two sequences
  X  key item                    Y  row of a grid
"""
