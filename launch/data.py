"""Prepares a data set: python launch/data.py cogs --out data/cogs

The official files of scan, cogs and prontoqa are downloaded or copied (--source PATH),
and known by their digests; `questions` like prontoqa's are drawn by our own rules. A
corpus (tinystories, slimpajama, or text of your own) is tokenized once, from local
files or those of the Hugging Face hub (extra `data`), into files that a sweep maps into
memory:

  python launch/data.py tinystories --source TinyStories-train.txt --out data/stories \\
      --tokenizer gpt2 --vocabulary gpt2.tiktoken

The same command again continues, and keeps what is there. Exit codes: 1 no connection,
or another process writes there; 2 a file is missing, truncated or another one.
"""

import argparse
import functools
import itertools
import pathlib
from typing import NamedTuple

from anchorjax import cli
from anchorjax.errors import UserError, require
from anchorjax.extras.corpora import texts, tokenizers, write
from anchorjax.extras.corpora.official import (
    OFFICIAL,
    prepare_official,
    write_questions,
)
from anchorjax.sweeps.memory import format_bytes
from anchorjax.tasks.corpus.token_files import LIST_FILE
from anchorjax.tasks.prontoqa import ProntoqaConfig

PUBLIC = 'public'  # a value of --source besides a path


class Corpus(NamedTuple):
    """A corpus that people know by a name."""

    title: str
    licence: str
    repository: str = ''  # on the Hugging Face hub; '': not there
    pattern: str = ''  # of its files there


CORPORA = {
    'tinystories': Corpus(
        # DATASETS 6; of version 2 there is no official number.
        'TinyStories (Eldan & Li 2023); version 1 has 2,119,719 stories to train on, '
        '21,990 to validate, empty ones included',
        'CDLA-Sharing-1.0: share alike, with its text',
        'roneneldan/TinyStories',
        'data/train-*.parquet',
    ),
    'slimpajama': Corpus(
        'SlimPajama (Cerebras 2023); 59,166 files in all',
        'that of each part, and no single one; the GitHub part is MIT, BSD or Apache, '
        'Wikipedia CC BY-SA',
        'cerebras/SlimPajama-627B',
        'train/chunk1/*.jsonl.zst',
    ),
    'text': Corpus('texts of your own', 'yours'),
}
_SETS = ('CommonCrawl', 'C4', 'Github', 'Book', 'ArXiv', 'Wikipedia', 'StackExchange')
SETS = tuple(f'RedPajama{name}' for name in _SETS)  # of SlimPajama


def command() -> None:
    commands = {name: functools.partial(copy_official, name) for name in OFFICIAL}
    commands |= {name: functools.partial(prepare_corpus, name) for name in CORPORA}
    cli.run_subcommand(commands | {'questions': draw_questions}, __doc__)


def make_parser(name: str, out: str) -> cli.Parser:
    parser = cli.Parser(prog=f'data.py {name}', description=__doc__)
    parser.add_argument('--out', type=cli.parse_folder, required=True, help=out)
    return parser


def copy_official(name: str, words: list[str]) -> None:
    """Downloads or copies the official files of a data set."""
    parser = make_parser(name, 'folder of the files')
    text = "'public', or the folder of a local copy"
    parser.add_argument('--source', default=PUBLIC, help=text)
    flags = parser.parse_args(words)
    official = OFFICIAL[name]
    print(f'{official.title}\nlicence: {official.licence}', flush=True)
    source = None if flags.source == PUBLIC else pathlib.Path(flags.source)
    for file, size in prepare_official(name, source, flags.out):
        print(f'  {flags.out / file}: {format_bytes(size)}', flush=True)


def draw_questions(words: list[str]) -> None:
    """Writes questions like PrOntoQA's."""
    parser = make_parser('questions', 'folder of questions.json and texts.jsonl')
    add = parser.add_argument
    add('--number', type=int, default=20_500, help='of questions (%(default)s)')
    add('--hops', type=int, default=5, help='1 to 5')
    flags = parser.parse_args(words)
    require(flags.number >= 2, '--number', flags.number, 'at least 2')
    sizes = {'num_examples': flags.number - 1, 'eval_examples': 1}
    write_questions(ProntoqaConfig(hops=flags.hops, **sizes), flags.out)
    print(f'{flags.out}: {flags.number:,} questions')


def prepare_corpus(name: str, words: list[str]) -> None:
    """Tokenizes a corpus from local files, or from those of the hub."""
    parser = make_parser(name, 'folder of the tokens')
    add = parser.add_argument
    text = "'public', or a file or folder, here or at an address (hf://datasets/...)"
    add('--source', required=True, help=text)
    text = 'of the names of its files, e.g. train/chunk1/*.jsonl.zst'
    add('--pattern', default='', help=text)
    kinds = ('gpt2', 'words', 'bytes')
    add('--tokenizer', default='gpt2', choices=kinds, help='(%(default)s)')
    text = "of gpt2: GPT-2's ranks (gpt2.tiktoken)"
    add('--vocabulary', type=cli.parse_file, metavar='FILE', help=text)
    text = 'of words: the N most frequent ones (%(default)s)'
    add('--most_words', type=int, default=4_000, metavar='N', help=text)
    add('--field', default='text', help='of a row with its text (%(default)s)')
    if name == 'slimpajama':
        text = 'parts to keep, e.g. RedPajamaGithub RedPajamaWikipedia'
        add('--sets', nargs='+', choices=SETS, metavar='NAME', help=text)
    parser.set_defaults(sets=())
    flags = parser.parse_args(words)
    print(f'{CORPORA[name].title}\nlicence: {CORPORA[name].licence}', flush=True)
    files = find_files(CORPORA[name], flags.source, flags.pattern)
    print(f'{len(files.paths)} files, {format_bytes(sum(files.sizes.values()))}')
    wanted = texts.RowFilter(flags.field, tuple(flags.sets or ()))
    tokenizer = make_tokenizer(flags, files, wanted)
    state = 'there already' if (flags.out / LIST_FILE).exists() else 'written'
    listed = write.write_corpus(files, flags.out, tokenizer, wanted)
    print(
        f'{flags.out}: {listed["documents"]:,} documents, {listed["tokens"]:,} tokens, '
        f'{listed["skipped"]:,} rows without text and {listed["empty"]:,} empty ones '
        f'left out, {state}'
    )
    print(f'sha256 of the tokens: {listed["sha256"]}')


def find_files(corpus: Corpus, source: str, pattern: str) -> texts.Files:
    """The files at the source; those of the hub are of its newest commit."""
    require(source != '', '--source', source, 'a file, a folder or an address')
    if source != PUBLIC:
        return texts.find_files(source, pattern)
    if not corpus.repository:
        raise UserError("--source 'public': must be a path, the texts are yours")
    commit = texts.find_commit(corpus.repository)
    address = f'hf://datasets/{corpus.repository}@{commit}'
    files = texts.find_files(address, pattern or corpus.pattern)
    return files._replace(revision=commit)


def make_tokenizer(
    flags: argparse.Namespace, files: texts.Files, wanted: texts.RowFilter
) -> tokenizers.Tokenizer:
    """The tokenizer of the flags; its words are those of the texts."""
    if flags.vocabulary and flags.tokenizer != 'gpt2':
        raise UserError(f'--vocabulary: {flags.tokenizer} need none')
    if flags.tokenizer == 'bytes':
        return tokenizers.make_bytes()
    if flags.tokenizer == 'gpt2':
        if flags.vocabulary is None:
            raise UserError('--tokenizer gpt2 needs --vocabulary gpt2.tiktoken')
        return tokenizers.load_gpt2(flags.vocabulary)
    require(flags.most_words >= 1, '--most_words', flags.most_words, 'at least 1')
    read = (texts.read_texts(path, wanted) for path in files.paths)
    words = filter(None, itertools.chain.from_iterable(read))
    vocabulary, share = tokenizers.count_words(words, flags.most_words)
    print(f'{len(vocabulary):,} words are {share:.1%} of all', flush=True)
    return tokenizers.make_words(vocabulary)


if __name__ == '__main__':
    cli.run_command(command)
