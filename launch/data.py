"""Prepares a data set: python launch/data.py scan --out data/scan

A corpus (tinystories, slimpajama, or text of your own) is tokenized once, into files
that a sweep maps into memory:

  python launch/data.py tinystories --source TinyStories-train.txt --out data/stories \\
      --tokenizer gpt2 --vocabulary gpt2.tiktoken

The others are written by our own rules (--source own, the default), from the public
files (--source public, on a machine with internet), or from a local copy of these
(--source PATH); a corpus needs one of the last two. Says what is written, how large it
is and under which licence, and checks every row. The same command again continues, and
keeps what is there. Exit codes: 1 no connection, or another process writes there; 2 a
file is missing, truncated or another one.
"""

import argparse
import pathlib
import sys
from collections.abc import Iterator
from typing import get_args

from anchorjax import cli
from anchorjax.errors import UserError, require
from anchorjax.limits import check_value, declared_fields
from anchorjax.sources import corpora, published, tokenizers
from anchorjax.sources.catalog import SOURCES
from anchorjax.sources.corpora import CORPORA
from anchorjax.sources.documents import Wanted, read_documents
from anchorjax.sources.prepare import OWN, PUBLIC, describe, prepare
from anchorjax.sources.tokenizers import KINDS, Tokenizer
from anchorjax.sweeps.memory import format_bytes
from anchorjax.tasks import ProntoqaConfig
from anchorjax.tasks.prontoqa.task import MOST_EXAMPLES
from anchorjax.tasks.prontoqa.worlds import Distractor, Ontology, Order

# One of them is the probe's.
_MOST_QUESTIONS = MOST_EXAMPLES + 1


def make_parser() -> cli.Parser:
    parser = cli.Parser(description=__doc__)
    add = parser.add_argument
    add('name', choices=(*SOURCES, *CORPORA))
    add(
        '--out',
        type=cli.parse_folder,
        required=True,
        help='folder of the prepared files',
    )
    text = (
        "'own' (our rules), 'public', or the path of a local copy of the public files"
    )
    add('--source', default=OWN, help=text)
    add('--seed', type=int, default=0, help='of what own rules draw: cogs, prontoqa')
    text = 'prontoqa by own rules: number of questions'
    add('--number', type=int, default=20_500, help=text)
    add('--hops', type=int, default=5, help='prontoqa by own rules: 1 to 5')
    add('--ontology', default='fictional', choices=get_args(Ontology))
    add('--order', default='postorder', choices=get_args(Order))
    add('--distractor', default='original', choices=get_args(Distractor))
    add_corpus_flags(parser)
    return parser


def add_corpus_flags(parser: cli.Parser) -> None:
    add = parser.add_argument_group('of a corpus').add_argument
    text = 'gpt2 and words need --vocabulary; words can make one (%(default)s)'
    add('--tokenizer', default='gpt2', choices=KINDS, help=text)
    text = "GPT-2's ranks (gpt2.tiktoken), or a file of words, one a line"
    add('--vocabulary', type=cli.parse_file, metavar='FILE', help=text)
    text = 'words without --vocabulary: keep so many, the most frequent (%(default)s)'
    add('--most_words', type=int, default=4_000, metavar='N', help=text)
    add('--field', default='text', help='of a row with its text (%(default)s)')
    text = 'slimpajama: parts to keep, e.g. RedPajamaGithub,RedPajamaWikipedia'
    add('--sets', type=parse_names, default=(), metavar='NAMES', help=text)
    text = 'public: files on the hub, e.g. train/chunk1/*.jsonl.zst'
    add('--pattern', default='', help=text)


def parse_names(text: str) -> tuple[str, ...]:
    return tuple(text.split(','))


def report(name: str, done: int, total: int) -> None:
    """Shows how much of a file is downloaded."""
    line = f'\r  {name}: {format_bytes(done)}'
    if total:
        line += f' of {format_bytes(total)}'
    if done >= total > 0:
        line += '\n'
    print(line, end='', file=sys.stderr, flush=True)


def command() -> None:
    flags = make_parser().parse_args()
    if not flags.source:
        raise UserError("--source '': must be own, public, or the path of a copy")
    if flags.name in CORPORA:
        prepare_corpus(flags)
        return
    questions = describe_questions(flags)
    source = SOURCES[flags.name]
    print(describe(flags.name, flags.source, questions))
    print(f'licence: {source.licence}', flush=True)
    if flags.source == PUBLIC:
        size = sum(file.size for file in source.files)
        print(f'{len(source.files)} files, {format_bytes(size)}', flush=True)
    total = 0
    for file in prepare(flags.name, flags.out, flags.source, questions, report):
        size = format_bytes(file.size)
        state = 'written' if file.is_new else 'there already'
        print(f'  {file.name}: {file.rows:,} rows, {size}, {state}', flush=True)
        total += file.size
    print(f'{flags.out}: {format_bytes(total)}')


def describe_questions(flags: argparse.Namespace) -> ProntoqaConfig:
    """The questions that the flags ask for; ConfigError names the flag."""
    allowed = f'at least 2, at most {_MOST_QUESTIONS:,}'
    is_allowed = 2 <= flags.number <= _MOST_QUESTIONS
    require(is_allowed, '--number', flags.number, allowed)
    fields = declared_fields(ProntoqaConfig)
    for name, field in (('hops', 'hops'), ('seed', 'pool_seed')):
        check_value(getattr(flags, name), fields[field], f'--{name}')
    is_possible = flags.distractor != 'twin' or flags.ontology == 'fictional'
    allowed = "'original' with this --ontology: only 'fictional' has names for 'twin'"
    require(is_possible, '--distractor', flags.distractor, allowed)
    return ProntoqaConfig(
        hops=flags.hops,
        ontology=flags.ontology,
        order=flags.order,
        distractor=flags.distractor,
        num_examples=flags.number - 1,
        probe_examples=1,
        pool_seed=flags.seed,
    )


def prepare_corpus(flags: argparse.Namespace) -> None:
    """Tokenizes a corpus from local files, or from those of the hub."""
    source = CORPORA[flags.name]
    print(source.title)
    print(f'licence: {source.licence}', flush=True)
    for name in flags.sets:
        if name not in source.sets:
            raise UserError(f'--sets {name!r}: must be of {source.sets}')
    if flags.source == OWN:
        raise UserError(f'{flags.name}: give --source PATH, or --source public')
    tokenizer = make_tokenizer(flags)  # before hours of downloading
    if flags.source == PUBLIC:
        revision = corpora.read_revision(flags.out)
        folder = flags.out / 'public'
        files = corpora.download(flags.name, folder, flags.pattern, revision)
    else:
        files = corpora.find_files(pathlib.Path(flags.source))
    wanted = Wanted(flags.field, flags.sets)
    size = sum(path.stat().st_size for path in files.paths)
    print(f'{len(files.paths)} files, {format_bytes(size)}', flush=True)
    if tokenizer is None:
        tokenizer = find_words(flags, files.paths, wanted)
    parts = published.find_parts(source.parts, files.paths)
    written = corpora.write_corpus(
        files,
        flags.out,
        tokenizer,
        wanted,
        report_tokens,
        published.count_documents(parts),
    )
    state = 'written' if written.is_new else 'there already'
    line = f'{flags.out}: {written.documents:,} documents, {written.tokens:,} tokens'
    print(f'{line}, {written.skipped:,} rows without text, {state}')
    if source.parts:
        rows = written.documents + written.empty + written.skipped
        print(published.compare(parts, rows, len(files.paths)))
        if written.empty:
            print(f'{written.empty:,} of these documents are empty and left out')
    print(f'sha256 of the tokens: {written.digest}')


def make_tokenizer(flags: argparse.Namespace) -> Tokenizer | None:
    """The tokenizer of the flags; None if its words are found in the texts."""
    if flags.tokenizer == 'bytes':
        return tokenizers.Bytes()
    if flags.tokenizer == 'gpt2':
        if flags.vocabulary is None:
            raise UserError('--tokenizer gpt2 needs --vocabulary gpt2.tiktoken')
        return tokenizers.Gpt2(flags.vocabulary)
    if flags.vocabulary:
        return tokenizers.Words(tokenizers.read_words(flags.vocabulary))
    if flags.most_words < 1:
        raise UserError(f'--most_words {flags.most_words}: must be at least 1')
    return None


def find_words(
    flags: argparse.Namespace, files: list[pathlib.Path], wanted: Wanted
) -> tokenizers.Words:
    """The most frequent words of these files."""
    counted = tokenizers.count_words(list_texts(files, wanted), flags.most_words)
    print(f'{len(counted.words):,} words are {counted.share:.1%} of all', flush=True)
    return tokenizers.Words(counted.words)


def list_texts(files: list[pathlib.Path], wanted: Wanted) -> Iterator[str]:
    for file in files:
        for piece in read_documents(file, wanted):
            yield piece.text


def report_tokens(name: str, documents: int, tokens: int) -> None:
    """Shows how far the tokenizing is."""
    line = f'\r\x1b[K  {name}: {documents:,} documents, {tokens:,} tokens'
    print(line, end='', file=sys.stderr, flush=True)


if __name__ == '__main__':
    cli.run_command(command)
