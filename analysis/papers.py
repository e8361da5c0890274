"""The papers whose figures and claims are here: each is one record, `PAPER`.

A paper is a package of `analysis`: its record in __init__.py, a file for each figure,
and claims.py. The command line, the pages, the gallery and the report follow from these
records; a new paper is a new package, and its name here.
"""

import importlib
import pathlib
from collections.abc import Mapping
from types import ModuleType
from typing import NamedTuple

from anchorjax.errors import UserError, describe_cause
from anchorjax.importing import import_file

NAMES = ('p1', 'text_tasks', 'p2', 'p3', 'p4', 'law')  # in the order of the pages
ANALYSIS = pathlib.Path(__file__).parent
GALLERY = ANALYSIS / 'gallery'


class Paper(NamedTuple):
    """What is said of a paper outside its own package."""

    title: str  # 'P1': what pages and the report call it
    # The figures that the report draws of a sweep of a task, by the name of the task.
    # Its claims are about sweeps of these tasks.
    figures: Mapping[str, tuple[str, ...]]
    name: str = ''  # of the publication
    arxiv: str = ''


def find_paper(name: str) -> Paper:
    return importlib.import_module(f'analysis.{name}').PAPER


def list_papers() -> dict[str, Paper]:
    """All papers by the names of their packages."""
    return {name: find_paper(name) for name in NAMES}


def list_papers_of(task: str) -> dict[str, Paper]:
    """The papers about a task, in the order of NAMES."""
    papers = list_papers().items()
    return {name: paper for name, paper in papers if task in paper.figures}


def import_claims(name: str) -> ModuleType:
    """The module of a paper with CLAIMS, INTRODUCTION and `tabulate`.

    Args:
      name: of its package; or the path of a Python file of one's own, 'own/claims.py'.

    Raises:
      UserError: there is no such paper or file, or it lacks CLAIMS or `tabulate`.
    """
    if name in NAMES:
        return importlib.import_module(f'analysis.{name}.claims')
    if not (name.endswith('.py') and pathlib.Path(name).exists()):
        papers = ', '.join(NAMES)
        raise UserError(f'PAPER = {name!r}: must be {papers}, or a Python file')
    try:
        module = import_file(name)
    except Exception as e:  # the file is Python and may raise anything
        raise UserError(f'{name}: {describe_cause(e)}') from e
    missing = [part for part in ('CLAIMS', 'tabulate') if not hasattr(module, part)]
    if missing:
        raise UserError(f'{name}: has no {" and no ".join(missing)}')
    return module
