"""Next-token prediction on a corpus that was tokenized once into a file."""

from anchorjax.tasks.corpus.task import CorpusConfig
