"""Prepares a data set: python launch/data.py cogs --source public --out data/cogs

The official files of scan, cogs and prontoqa are downloaded (--source public) or copied
(--source PATH), and known by their digests; questions like prontoqa's are drawn by our
own rules (--source own). A corpus (tinystories, slimpajama, or text of your own) is
tokenized once, from local files or those of the Hugging Face hub (extra `data`), into
files that a sweep maps into memory:

  python launch/data.py tinystories --source TinyStories-train.txt --out data/stories \\
      --tokenizer gpt2 --vocabulary gpt2.tiktoken

The same command again continues, and keeps what is there. Exit codes: 1 no connection,
or another process writes there; 2 a file is missing, truncated or another one.
"""

import argparse
import pathlib
from collections.abc import Iterator
from typing import NamedTuple, get_args

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
from anchorjax.tasks.prontoqa.worlds import Distractor, Ontology, Order

OWN, PUBLIC = 'own', 'public'  # values of --source besides a path


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
_OF_OWN = ('seed', 'number', 'hops', 'ontology', 'order', 'distractor')
_OF_A_CORPUS = ('tokenizer', 'vocabulary', 'most_words', 'field', 'sets', 'pattern')


def make_parser() -> cli.Parser:
    parser = cli.Parser(description=__doc__)
    add = parser.add_argument
    add('name', choices=(*OFFICIAL, *CORPORA))
    text = 'folder of the prepared files'
    add('--out', type=cli.parse_folder, required=True, help=text)
    text = "'public', the path of a local copy, or 'own' (prontoqa by our rules)"
    add('--source', default=OWN, help=text)
    add = parser.add_argument_group('of prontoqa by our own rules').add_argument
    add('--seed', type=int, default=0)
    add('--number', type=int, default=20_500, help='of questions (%(default)s)')
    add('--hops', type=int, default=5, help='1 to 5')
    add('--ontology', default='fictional', choices=get_args(Ontology))
    add('--order', default='postorder', choices=get_args(Order))
    add('--distractor', default='original', choices=get_args(Distractor))
    add = parser.add_argument_group('of a corpus').add_argument
    text = 'gpt2 and words need --vocabulary; words can make one (%(default)s)'
    add('--tokenizer', default='gpt2', choices=('gpt2', 'words', 'bytes'), help=text)
    text = "GPT-2's ranks (gpt2.tiktoken), or a file of words, one a line"
    add('--vocabulary', type=cli.parse_file, metavar='FILE', help=text)
    text = 'words without --vocabulary: the N most frequent ones (%(default)s)'
    add('--most_words', type=int, default=4_000, metavar='N', help=text)
    add('--field', default='text', help='of a row with its text (%(default)s)')
    text = 'slimpajama: parts to keep, e.g. RedPajamaGithub,RedPajamaWikipedia'
    add('--sets', type=parse_names, default=(), metavar='NAMES', help=text)
    text = 'files on the hub, or in a folder, e.g. train/chunk1/*.jsonl.zst'
    add('--pattern', default='', help=text)
    return parser


def parse_names(text: str) -> tuple[str, ...]:
    return tuple(text.split(','))


def command() -> None:
    parser = make_parser()
    flags = parser.parse_args()
    for name in list_unused(flags):
        if getattr(flags, name) != parser.get_default(name):
            where = f'{flags.name} with --source {flags.source}'
            raise UserError(f'--{name}: has no effect on {where}')
    if not flags.source:
        raise UserError("--source '': must be own, public, or the path of a copy")
    if flags.name in CORPORA:
        prepare_corpus(flags)
        return
    official = OFFICIAL[flags.name]
    print(f'licence: {official.licence}')
    if flags.source == OWN:
        write_own(flags)
        return
    print(official.title, flush=True)
    source = None if flags.source == PUBLIC else pathlib.Path(flags.source)
    for name, size in prepare_official(flags.name, source, flags.out):
        print(f'  {flags.out / name}: {format_bytes(size)}', flush=True)


def list_unused(flags: argparse.Namespace) -> tuple[str, ...]:
    """The flags that mean nothing for this data set from this source."""
    if flags.name in CORPORA:
        return _OF_OWN
    return _OF_A_CORPUS if flags.source == OWN else (*_OF_OWN, *_OF_A_CORPUS)


def write_own(flags: argparse.Namespace) -> None:
    """Writes questions like PrOntoQA's; our COGS and SCAN need no files."""
    if flags.name != 'prontoqa':
        raise UserError(
            f'{flags.name}: the task makes its own data; give --source public or PATH'
        )
    require(flags.number >= 2, '--number', flags.number, 'at least 2')
    questions = ProntoqaConfig(
        hops=flags.hops,
        ontology=flags.ontology,
        order=flags.order,
        distractor=flags.distractor,
        num_examples=flags.number - 1,
        eval_examples=1,
        pool_seed=flags.seed,
    )
    write_questions(questions, flags.out)
    print(f'{flags.out}: {flags.number:,} questions')


def prepare_corpus(flags: argparse.Namespace) -> None:
    """Tokenizes a corpus from local files, or from those of the hub."""
    corpus = CORPORA[flags.name]
    print(corpus.title)
    print(f'licence: {corpus.licence}', flush=True)
    for name in flags.sets:
        if flags.name != 'slimpajama' or name not in SETS:
            raise UserError(f'--sets {name!r}: must be of slimpajama, one of {SETS}')
    tokenizer = make_tokenizer(flags)
    files = find_files(flags)
    size = format_bytes(sum(files.sizes.values()))
    print(f'{len(files.paths)} files, {size}', flush=True)
    wanted = texts.RowFilter(flags.field, flags.sets)
    if tokenizer is None:
        words = list_texts(files.paths, wanted)
        vocabulary, share = tokenizers.count_words(words, flags.most_words)
        print(f'{len(vocabulary):,} words are {share:.1%} of all', flush=True)
        tokenizer = tokenizers.make_words(vocabulary)
    state = 'there already' if (flags.out / LIST_FILE).exists() else 'written'
    listed = write.write_corpus(files, flags.out, tokenizer, wanted)
    print(
        f'{flags.out}: {listed["documents"]:,} documents, {listed["tokens"]:,} tokens, '
        f'{listed["skipped"]:,} rows without text and {listed["empty"]:,} empty ones '
        f'left out, {state}'
    )
    if tokenizer.description['kind'] == 'words':
        share = write.measure_unknown(flags.out)
        print(f'{share:.1%} of the words are beyond the vocabulary')
    print(f'sha256 of the tokens: {listed["sha256"]}')


def find_files(flags: argparse.Namespace) -> texts.Files:
    """The files of the corpus; UserError if --source does not say which."""
    corpus = CORPORA[flags.name]
    if flags.source == OWN or (flags.source == PUBLIC and not corpus.repository):
        raise UserError(f'{flags.name}: give --source PATH, or --source public')
    if flags.source != PUBLIC:
        return texts.find_local(pathlib.Path(flags.source), flags.pattern)
    revision = write.read_revision(flags.out)  # of a corpus that was begun
    return texts.find_public(
        corpus.repository, flags.pattern or corpus.pattern, revision
    )


def make_tokenizer(flags: argparse.Namespace) -> tokenizers.Tokenizer | None:
    """The tokenizer of the flags; None if its words are found in the texts."""
    if flags.tokenizer == 'bytes':
        if flags.vocabulary:
            raise UserError('--vocabulary: bytes have none')
        return tokenizers.make_bytes()
    if flags.tokenizer == 'gpt2':
        if flags.vocabulary is None:
            raise UserError('--tokenizer gpt2 needs --vocabulary gpt2.tiktoken')
        return tokenizers.load_gpt2(flags.vocabulary)
    if flags.vocabulary:
        return tokenizers.make_words(tokenizers.read_words(flags.vocabulary))
    require(flags.most_words >= 1, '--most_words', flags.most_words, 'at least 1')
    return None


def list_texts(paths: list[str], wanted: texts.RowFilter) -> Iterator[str]:
    for path in paths:
        for text in texts.read_texts(path, wanted):
            yield text or ''


if __name__ == '__main__':
    cli.run_command(command)
