"""Figures of a sweep on disk: compute(...) -> Result (arrays), draw(result, axes).

Shape suffixes besides those of the package anchorjax. Some figures use a letter
otherwise; the docstring of their Result says so.

  A  ordered pair of anchors     C  set of edges left in a network
  E  edge                        G  value of gamma
  I  index in a spectrum         J  role of a position
  L  position that is patched    U  what differs between two sequences
  X  key item                    Y  row of a grid
"""
