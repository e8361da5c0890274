"""anchorjax: does initialization decide whether a transformer reasons or memorizes?

The packages, lowest first; imports go down only (tests/repository/test_imports.py):

  errors, limits   one-line errors; what each field of a config may hold
  files, hashing   files that are written whole; digests of files, arrays and JSON
  tasks, models    what is learned: pure data; what learns it: Activations out
  config           one frozen Experiment from a config; the grid of its members
  training         pure steps, losses, optimizers; the members on their devices
  network          one trained network: activations by name, patches, answers
  storage          the files of a sweep: written whole, checked when read
  sweeps           the host loop: resume, train a segment, record, save; its jobs
  official         the authors' weights, to and from our parameters
  api              train(experiment, workdir) -> Run; open(workdir) -> Run
  cli              what the command lines in launch/ and analysis/ share
  extras           tools on packages of their own: corpora as files; prompts of the
                   anchor task for language models; speed beside that of others; Slurm

Data flows one way: a config file -> config.resolve -> Experiment -> cohorts ->
members (init, segments, records) -> the folder of the sweep -> Run -> analysis.

Shapes are suffixes; in this package a letter has one meaning:
  M member   S recorded step   B batch   T position (Q as query)   D width   N layer
  H head   K head width   F mlp width   V vocabulary   P eval set   R mapping

Terms (P1 to P4 are the papers of PAPERS.md):
  key item, x        the operand, a token in [20, 100); noise has the same range
  anchor             token a, by default 1 to 4; g(x; a) = x + shift[a]
  pair               (a1, a2) right after the key item; f = g(g(x; a1); a2)
  composed           the mapping that composes the anchors (P1: inferential; later
                     papers: reasoning)
  non-inferential    a pair trained on another shift: (3, 4) gives x - 6, not x - 10
  unseen             a pair that is never trained, (4, 3): the question of the paper
  symmetric          the mapping that answers (4, 3) as (3, 4) was trained
  assigned           the mapping whose answers are the training labels
  memory anchor      gives a key a random label, one for each combination (P2)
  reasoning anchor   is added to the key (P2); masked combinations are never trained
  label law, P_s     how labels are distributed where token s occurs (P2)
  gamma              initialization rate, std = d_in ** -gamma: LARGE is SMALL weights
                     (with model.init = 'scale', P4's: a factor of the weights)
  window             the steps in which weight decay acts (P4); its budget is the sum
                     of the decay over training
  member             one network; the members of a cohort share one compiled program;
                     a sweep is all cohorts
  lanes              members that one device trains side by side, under vmap
  chunk              members that train at the same time: lanes * devices of them
  shard              consecutive chunks that one job trains
  segment            the steps from one record of the curves to the next
  snapshot           the parameters of a chunk at one step, kept for analysis
  environment        what bits depend on besides the config: layout, versions, hardware
  point              names a member: gamma=.., learning_rate=.., seed=.., and so on
  role               what a position is in its sequence: key, anchor_1, anchor_2, last
  edge               what positions of one role read from those of another, in one layer
  mechanism          a set of edges that is said to carry a solution (P1 Fig 3)
"""
