"""Figures from a sweep on disk: compute(...) -> Result (arrays), draw(result, axes).

Letters of shapes beside the package's: A ordered pair of anchors   C set of edges left in a network
  E edge   G value of gamma   I place in a spectrum   J role of a position   L place that is
  patched   U what differs between two sequences   X key item   Y row of a grid
"""
