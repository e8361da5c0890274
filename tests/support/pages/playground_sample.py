"""Networks to ask on the page of the sample: random ones, and one that is planted."""

import functools
from typing import Any

import numpy as np

from analysis.members.member import Member
from analysis.report.playground import describe
from tests.support.pages import network_page

# Of the sample's members by number: γ 0.3, 0.6, 1.2 at depth 1, and 1.5 at depth 2.
MEMBERS = (0, 3, 6, 18)


@functools.lru_cache
def make_networks() -> tuple[Member, ...]:
    """Four networks of two layers, the third of two heads with GELU and biases."""
    networks = []
    for number in range(len(MEMBERS)):
        options = ('post', 'relu', 1, False)
        if number == 2:
            options = ('pre', 'gelu', 2, True)
        member = network_page.make_member(*options)
        shifted = {'W_U': np.roll(member.params['W_U'], number, axis=1)}
        networks.append(member._replace(params=member.params | shifted))
    return tuple(networks)


@functools.lru_cache
def _describe_networks() -> tuple[dict[str, Any], ...]:
    return tuple(network_page.describe_network(member) for member in make_networks())


def make_playground() -> dict[str, Any]:
    """The playground of the sample: all networks have the same task."""
    networks = []
    for number, network in zip(MEMBERS, _describe_networks(), strict=True):
        networks.append({**network, 'member': number, 'task': 0})
    task = make_networks()[0].experiment.task
    tasks = [describe.describe_task(task)]
    return {'missing': None, 'networks': networks, 'tasks': tasks}
