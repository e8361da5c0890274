"""anchorjax: does initialization decide whether a transformer reasons or memorizes?

Shapes are suffixes, one letter one meaning in the whole package:
  M member   S recorded step   B batch   T position (Q as query)   D width   N layer   H head
  K head width   F mlp width   V vocabulary   P probe   R mapping

Terms (P1 is Zhang et al., NeurIPS 2024, arXiv 2405.05409; PAPERS is our table of its facts):
  key item, x        the operand, a token in [20, 100); noise is drawn from the same range
  anchor             token a of 1 to 4; g(x; a) = x + shift[a]
  pair               (a1, a2) right after the key item; f = g(g(x; a1); a2)
  inferential        the mapping that composes the anchors (later papers: reasoning)
  non-inferential    a pair trained on another shift: (3, 4) gives x - 6, not x - 10
  unseen             a pair never trained, (4, 3): the question of the paper
  symmetric          the mapping that answers (4, 3) as (3, 4) was trained (memorizing)
  assigned           the mapping that training follows
  gamma              initialization rate, std = d_in ** -gamma: LARGE gamma is SMALL weights
  member             one network; a cohort's members share one compiled program; a sweep is
                     all cohorts; a chunk is what trains at one time, lanes * devices members;
                     a shard is the consecutive chunks that one job trains
  numerics           what bits hang on beside the config: layout, versions, hardware, flags
  role               what a position is in its sequence: key, anchor_1, anchor_2, last, noise
  edge               what positions of one role read from those of another, in one layer
  mechanism          a set of edges said to carry a solution (P1 Fig 3)
  point              gamma=.., learning_rate=.., seed=.., names a member

How data flows: a config file -> config.resolve -> Experiment -> grid.cohorts -> trainer (init,
segments, records) -> sweepdir -> store -> analysis. Imports go down only (tests/test_imports).
Only sharding knows on which devices members live, hosts which processes there are, engine and
backends (submitit) and jobset (Kubernetes) who starts the jobs.
"""
