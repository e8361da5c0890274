"""The documents of a corpus: txt, jsonl and parquet, packed or not, in bounded memory.

  .txt                   documents between lines <|endoftext|>
  .jsonl                 an object a line, the text in a field
  .parquet               a column with the text (package pyarrow, extra `data`)
  .txt.gz, .jsonl.gz     the same, unpacked while it is read
  .txt.zst, .jsonl.zst   the same (package zstandard, extra `data`)

A long document comes in pieces, so that no file can fill the memory.
"""

import codecs
import gzip
import io
import json
import pathlib
import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from anchorjax.errors import UserError, brief

SEPARATOR = '<|endoftext|>'
SUFFIXES = ('.txt', '.jsonl', '.parquet')
_PACKINGS = ('.gz', '.zst')
_BLOCK = 2**20  # bytes read at a time
_PACKED = 2**17  # of zstd, which unpacks to more
_PIECE = 2**20  # characters of a document that come together
_LONGEST_LINE = 2**27  # bytes of a line of jsonl
_ROWS = 256  # of parquet, read at a time
# A cut right before one space between words changes no token of GPT-2's, whose words
# begin with their space.
_CUT = re.compile(r'(?<=\S) (?=\S)')

_HALF_LETTER = re.compile(r'[\ud800-\udfff]')


class Piece(NamedTuple):
    """A part of a document."""

    text: str
    ends_document: bool
    is_skipped: bool = False  # no part of a document; nothing else of it is used
    is_empty: bool = False  # skipped because its text is empty, not because it has none


_EMPTY = Piece('', ends_document=False, is_skipped=True, is_empty=True)


class Wanted(NamedTuple):
    """Which rows of jsonl and parquet count, and where their text is."""

    field: str = 'text'
    # Values of meta.redpajama_set_name (DATASETS 7); () takes every row.
    sets: tuple[str, ...] = ()


def list_files(path: pathlib.Path) -> list[pathlib.Path]:
    """The files of a corpus, in order: the path itself, or all in its folder.

    Raises:
      UserError: there is none, or it is of a kind that cannot be read.
    """
    if path.is_file():
        find_kind(path)
        return [path]
    if not path.is_dir():
        raise UserError(f'{path}: no such file or folder')
    files = []
    for file in sorted(path.rglob('*')):
        if file.is_file() and has_known_kind(file.name):
            files.append(file)
    if not files:
        raise UserError(f'{path}: has no files {", ".join(SUFFIXES)}, packed or not')
    return files


def has_known_kind(name: str) -> bool:
    """Whether a file of this name can be read."""
    return _strip_packing(name).endswith(SUFFIXES)


def find_kind(path: pathlib.Path) -> str:
    """'.txt', '.jsonl' or '.parquet'.

    Raises:
      UserError: the name ends in something else.
    """
    kind = pathlib.Path(_strip_packing(path.name)).suffix
    if kind not in SUFFIXES:
        raise UserError(f'{path}: must end in one of {SUFFIXES}, with .gz or .zst')
    return kind


def read_documents(path: pathlib.Path, wanted: Wanted) -> Iterator[Piece]:
    """The documents of one file, in pieces; empty ones are marked, to be counted.

    Raises:
      UserError: the file is missing, truncated, empty, or holds something else; the
        line names it.
    """
    kind = find_kind(path)
    try:
        if kind == '.parquet':
            yield from _read_parquet(path, wanted)
            return
        with open(path, 'rb') as f:
            stream = _unpack(f, path)
            if kind == '.jsonl':
                yield from _read_jsonl(stream, path, wanted)
            else:
                yield from _read_txt(stream, path)
    except FileNotFoundError:
        raise UserError(f'{path}: no such file') from None
    except (OSError, EOFError, zlib.error) as e:
        reason = getattr(e, 'strerror', None) or brief(str(e))
        raise UserError(f'{path}: cannot be read ({reason}); truncated?') from None


def _strip_packing(name: str) -> str:
    for packing in _PACKINGS:
        name = name.removesuffix(packing)
    return name


def _unpack(f: BinaryIO, path: pathlib.Path) -> BinaryIO:
    if path.suffix == '.gz':
        return gzip.GzipFile(fileobj=f)
    if path.suffix == '.zst':
        return io.BufferedReader(_ZstdStream(f), _BLOCK)
    return f


class _ZstdStream(io.RawIOBase):
    """The content of zstd frames, one after the other; EOFError if the last is cut.

    The package's own stream reader ends silently there.
    """

    def __init__(self, f: BinaryIO):
        try:
            import zstandard
        except ImportError as e:
            raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
        self._f = f
        self._package = zstandard
        self._frame: Any = None
        self._rest = b''  # packed, of the next frame
        self._ready = b''  # unpacked

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            packed = self._rest or self._f.read(_PACKED)
            self._rest = b''
            if not packed:
                if self._frame is not None:
                    raise EOFError('its last frame ends early')
                return 0
            if self._frame is None:
                self._frame = self._package.ZstdDecompressor().decompressobj()
            try:
                self._ready = self._frame.decompress(packed)
            except self._package.ZstdError as e:
                raise OSError(f'no zstd: {e}') from None
            if self._frame.eof:
                self._rest = self._frame.unused_data
                self._frame = None
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _read_txt(stream: BinaryIO, path: pathlib.Path) -> Iterator[Piece]:
    """Documents between separators; the line ends around one belong to no document."""
    # Some official text is damaged (DATASETS 6); it is not mended.
    decoder = codecs.getincrementaldecoder('utf-8')('replace')
    text, has_begun, is_empty = '', False, True
    while True:
        block = stream.read(_BLOCK)
        text += decoder.decode(block, final=not block)
        *whole, text = text.split(SEPARATOR)
        for document in whole:
            document = _strip_ends(document, has_begun)
            if document or has_begun:
                is_empty = False
                yield Piece(document, ends_document=True)
            else:
                yield _EMPTY
            has_begun = False
        if not has_begun:
            text = text.lstrip('\n\r')
        if not block:
            break
        while len(text) > 2 * _PIECE:
            cut = _find_cut(text)
            yield Piece(text[:cut], ends_document=False)
            is_empty, has_begun = False, True
            text = text[cut:]
    text = _strip_ends(text, has_begun)
    if text or has_begun:
        is_empty = False
        yield Piece(text, ends_document=True)
    if is_empty:
        raise UserError(f'{path}: holds no text')


def _strip_ends(text: str, has_begun: bool) -> str:
    """The last piece of a document without the line ends around the document."""
    text = text.rstrip('\n\r')
    return text if has_begun else text.lstrip('\n\r')


def _find_cut(text: str) -> int:
    """Where to cut the first piece off; inside a word only if there is no space."""
    last = None
    for match in _CUT.finditer(text, _PIECE // 2, _PIECE):
        last = match.start()
    return _PIECE if last is None else last


def _read_jsonl(
    stream: BinaryIO, path: pathlib.Path, wanted: Wanted
) -> Iterator[Piece]:
    is_first = True
    for number, line in enumerate(_split_lines(stream, path), 1):
        if not line.strip():
            continue
        try:
            text = _select(json.loads(line), wanted)
        except (ValueError, RecursionError, LookupError, TypeError) as e:
            if is_first:
                reason = brief(f'{type(e).__name__}: {e}')
                raise UserError(
                    f'{path}, line {number}: no object with the text '
                    f'{wanted.field!r} ({reason})'
                ) from None
            yield Piece('', ends_document=False, is_skipped=True)
            continue
        is_first = False
        if text is not None:
            yield from _cut_document(text)
    if is_first:
        raise UserError(f'{path}: holds no rows')


def _split_lines(stream: BinaryIO, path: pathlib.Path) -> Iterator[bytes]:
    reader = stream if hasattr(stream, 'readline') else io.BufferedReader(stream)
    while line := reader.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE and not line.endswith(b'\n'):
            raise UserError(f'{path}: a line of more than {_LONGEST_LINE:,} bytes')
        yield line


def _read_parquet(path: pathlib.Path, wanted: Wanted) -> Iterator[Piece]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as e:
        raise UserError(f"{e}: pip install 'anchorjax[data]'") from None
    columns = [wanted.field, 'meta'] if wanted.sets else [wanted.field]
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            missing = set(columns) - set(file.schema_arrow.names)
            if missing:
                raise UserError(f'{path}: has no column {min(missing)!r}')
            if file.metadata.num_rows == 0:
                raise UserError(f'{path}: holds no rows')
            for batch in file.iter_batches(_ROWS, columns=columns):
                for row in _list_rows(batch):
                    try:
                        text = _select(row, wanted)
                    except (LookupError, TypeError, ValueError):
                        yield Piece('', ends_document=False, is_skipped=True)
                        continue
                    if text is not None:
                        yield from _cut_document(text)
    except pyarrow.ArrowException as e:
        raise UserError(f'{path}: no parquet ({brief(str(e))})') from None


def _list_rows(batch: Any) -> list[Any]:
    """The rows of a pyarrow.RecordBatch; None for one that is no UTF-8."""
    try:
        return batch.to_pylist()
    except UnicodeDecodeError:  # does not say in which row
        pass
    rows: list[Any] = []
    for number in range(len(batch)):
        try:
            rows += batch.slice(number, 1).to_pylist()
        except UnicodeDecodeError:
            rows.append(None)
    return rows


def _select(row: Any, wanted: Wanted) -> str | None:
    """The text of a row; None if its set is not wanted.

    Raises:
      LookupError, TypeError, ValueError: the row has no such text, or no set.
    """
    text = row[wanted.field]
    if not isinstance(text, str):
        raise TypeError(f'{wanted.field} is {type(text).__name__}')
    if wanted.sets:
        meta = row['meta']
        if isinstance(meta, str):  # in some mirrors (DATASETS 7)
            meta = json.loads(meta)
        if meta['redpajama_set_name'] not in wanted.sets:
            return None
    # JSON can escape half of a letter beyond 16 bits, which UTF-8 cannot write.
    return _HALF_LETTER.sub('\N{REPLACEMENT CHARACTER}', text)


def _cut_document(text: str) -> Iterator[Piece]:
    if not text:
        yield _EMPTY
        return
    while len(text) > 2 * _PIECE:
        cut = _find_cut(text)
        yield Piece(text[:cut], ends_document=False)
        text = text[cut:]
    yield Piece(text, ends_document=True)
