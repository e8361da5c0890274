"""A small corpus as files."""

import json
import pathlib

from anchorjax.extras.corpora.texts import RowFilter, find_files
from anchorjax.extras.corpora.tokenizers import Tokenizer
from anchorjax.extras.corpora.write import write_corpus


def write_corpora(folder: pathlib.Path, tokenizer: Tokenizer, texts: list[str]) -> str:
    """The folder of tokens of these texts, inside a new folder."""
    folder.mkdir()
    path = folder / 'a.jsonl'
    path.write_text(''.join(json.dumps({'text': text}) + '\n' for text in texts))
    files = find_files(str(path))
    write_corpus(files, folder / 'out', tokenizer, RowFilter())
    return str(folder / 'out')
