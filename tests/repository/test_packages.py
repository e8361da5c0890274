"""What is installed from a wheel has all that the code reads."""

import configparser
import pathlib
import subprocess

import pytest

from tests.support.sweeps import ROOT

PACKAGES = ('anchorjax', 'analysis', 'launch')
# What no code of a package reads: results, and what runs in a clone alone.
IN_A_CLONE = ('analysis/gallery/', 'launch/slimpajama.sh')
IN_A_CLONE += ('analysis/tour.ipynb', 'analysis/cut.ipynb')


def list_packaged() -> set[str]:
    """The files besides Python's that setup.cfg puts into a wheel."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / 'setup.cfg')
    packaged = set()
    for package, patterns in settings['options.package_data'].items():
        folder = ROOT / package.replace('.', '/')
        for pattern in patterns.split():
            for path in folder.glob(pattern):
                packaged.add(path.relative_to(ROOT).as_posix())
    return packaged


def test_every_file_that_is_no_python_is_in_a_wheel():
    command = ['git', '-C', str(ROOT), 'ls-files', *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip('no clone')
    expected = set()
    for name in done.stdout.splitlines():
        is_read = not name.startswith(IN_A_CLONE)
        if is_read and pathlib.PurePath(name).suffix != '.py':
            expected.add(name)
    assert expected <= list_packaged()
