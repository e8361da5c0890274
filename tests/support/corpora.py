"""A small corpus as files."""

import json
import pathlib

from anchorjax.sources.corpora import write_corpus
from anchorjax.sources.documents import Wanted
from anchorjax.sources.tokenizers import Tokenizer


def write_corpora(folder: pathlib.Path, tokenizer: Tokenizer, texts: list[str]) -> str:
    """The folder of tokens of these texts, inside a new folder."""
    folder.mkdir()
    path = folder / 'a.jsonl'
    path.write_text(''.join(json.dumps({'text': text}) + '\n' for text in texts))
    write_corpus(path, folder / 'out', tokenizer, Wanted(), lambda *_: None)
    return str(folder / 'out')
