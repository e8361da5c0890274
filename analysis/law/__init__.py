"""The law: a designed experiment over what small networks and P1's differ in."""

from analysis.papers import Paper

PAPER = Paper(title='The law', figures={'anchors': ()})
