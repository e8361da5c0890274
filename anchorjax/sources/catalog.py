"""Where the data sets are public, under which licence, and how their files are known.

Commits and digests are those of DATASETS 11; a file without a digest is known by its
rows alone.
"""

from typing import NamedTuple

_GITHUB = 'https://raw.githubusercontent.com'
_SCAN = f'{_GITHUB}/brendenlake/SCAN/c4b756cbc010d75c912f16c42c8f15dc6b7e6c8f'
_COGS = f'{_GITHUB}/najoungkim/COGS/165a7b669eade971fa47bf568a2e51925360fed8'
_LOGIC_LM = f'{_GITHUB}/teacherpeterpan/Logic-LLM'
_LOGIC_LM += '/d29f1e5e7203e8826cb9c41ba3003e43dc0b9d34'


class PublicFile(NamedTuple):
    """One file of a public data set, uncompressed."""

    name: str  # in the prepared folder, and in a local one
    address: str
    rows: int  # lines, or questions
    size: int = 0  # bytes; 0: not known beforehand
    sha256: str = ''  # '': not known beforehand


class Source(NamedTuple):
    """A data set: where it is from and what it may be used for."""

    title: str
    licence: str
    files: tuple[PublicFile, ...] = ()  # () where nothing is public


def _scan_file(name: str, folder: str, rows: int, size: int, sha256: str) -> PublicFile:
    return PublicFile(name, f'{_SCAN}/{folder}{name}', rows, size, sha256)


def _cogs_file(name: str, rows: int, size: int = 0, sha256: str = '') -> PublicFile:
    return PublicFile(name, f'{_COGS}/data/{name}', rows, size, sha256)


SOURCES = {
    'addition': Source(
        'integer addition, operands 0 to 999, the square [400, 600] held out',
        'none needed: numbers',
    ),
    'scan': Source(
        'SCAN (Lake & Baroni 2018)',
        'BSD-3-Clause, (c) Facebook: https://github.com/brendenlake/SCAN',
        (
            _scan_file(
                'tasks.txt',
                '',
                20_910,
                4_080_388,
                'd824c7d9e9149ba497e25f701981dac79954e04bf670d22e5c209f076ac6c89f',
            ),
            _scan_file(
                'tasks_train_simple.txt',
                'simple_split/',
                16_728,
                3_267_938,
                '941bb8a088c5f53ceff12fde902dc008933cf0c4203cc672c47b5f79d73262dd',
            ),
            _scan_file(
                'tasks_test_simple.txt',
                'simple_split/',
                4_182,
                812_450,
                '1fe1c8f5a19d0dc40e41bab94278f45f66f3dc415a978bd29855a23440610fc6',
            ),
            _scan_file(
                'tasks_train_addprim_jump.txt',
                'add_prim_split/',
                14_670,
                2_579_619,
                'e3c78485692e028eed4205e1b8b3fd0e785ef2c12d45b5b89204dadf5b239e23',
            ),
            _scan_file(
                'tasks_test_addprim_jump.txt',
                'add_prim_split/',
                7_706,
                1_531_555,
                '8147ae2651422c701162e174d9d66158daa57858a26b30317ac61797118ac7a5',
            ),
            _scan_file(
                'tasks_train_addprim_turn_left.txt',
                'add_prim_split/',
                21_890,
                3_974_537,
                '1b3fed86055dd7689d217f1b90cc8960aeb1cf200f4f209dc47935761b05304c',
            ),
            _scan_file(
                'tasks_test_addprim_turn_left.txt',
                'add_prim_split/',
                1_208,
                173_679,
                '15a82c2d25ac7c3c1fff7e18051fb085974ef3617de895c520d02144396a10e2',
            ),
        ),
    ),
    'cogs': Source(
        'COGS (Kim & Linzen 2020)',
        'MIT, (c) 2020 najoungkim: https://github.com/najoungkim/COGS',
        (
            _cogs_file(
                'train.tsv',
                24_155,
                4_146_574,
                '220b3804b562c0156ee986eff1bdd15c27e52142549362a64f57baf86e304c78',
            ),
            _cogs_file(
                'dev.tsv',
                3_000,
                522_121,
                'ab66388a309c7ac1ad210c781a6a0ce12281a9ef24619a12422a752cef61bc21',
            ),
            _cogs_file(
                'gen.tsv',
                21_000,
                5_532_102,
                'd013d9eee0bafc153f8decc85f42814ac97260f84964d980e1e2b84577b82361',
            ),
        ),
    ),
    'prontoqa': Source(
        'PrOntoQA (Saparov & He 2023), the 500 questions of Logic-LM',
        'Apache-2.0 (generator) and MIT (copy): '
        'https://github.com/teacherpeterpan/Logic-LLM',
        (
            PublicFile(
                'dev.json',
                f'{_LOGIC_LM}/data/ProntoQA/dev.json',
                500,
                483_050,
                '2d2e9d0adbef05cd66b51d11516b8fb3d3fb2cbc1664867d1123a000f7b11a5f',
            ),
        ),
    ),
}
# Other names that a file may have in a local folder.
ALIASES = {'dev.json': ('logic_llm_prontoqa_dev.json',)}
