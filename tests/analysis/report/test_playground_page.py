"""The playground in a real browser: asking, comparing, cutting, sending as a link."""

import copy
import json
import re

import numpy as np
import pytest

from analysis.circuits import interventions
from analysis.report import page
from analysis.report.playground import describe_task
from anchorjax.tasks.anchors import AnchorsConfig
from tests.support.pages import browser, samples
from tests.support.pages.samples import ASKED

pytestmark = pytest.mark.slow

START = 'depth 1, exception trained, γ 0.3 (0.10 at width 400), seed 0'
ON_THE_LEFT = '.side:first-child'
CUT = '1 key last'  # an edge


def read_answers(tab) -> list[int]:
    """Of the side on the left and of the one on the right, once they are drawn."""
    tab.evaluate('new Promise(done => requestAnimationFrame(() => setTimeout(done)))')
    return [int(text) for text in tab.locator('strong.number').all_inner_texts()]


def read_tokens(tab) -> list[int]:
    return tab.evaluate(
        '[...document.querySelectorAll("#tokens li")].map(e => +e.firstChild.value)'
    )


def compute_answers(tokens: list[int], numbers: tuple[int, ...] = (0, 1)) -> list[int]:
    """What JAX says that networks of the sample answer."""
    answers = []
    for number in numbers:
        member = samples.make_networks()[number]
        logits = member.activations(np.array([tokens])).logits
        answers.append(int(logits[0, -1].argmax()))
    return answers


def cut_in_jax(tokens: list[int], edge: str) -> int:
    """The first network's answer without an edge, by analysis/circuits."""
    member = samples.make_networks()[0]
    names = member.task.role_names
    layer, source, target = edge.split(' ')
    allowed_NJJ = np.ones((member.depth, len(names), len(names)), bool)
    allowed_NJJ[int(layer), names.index(source), names.index(target)] = False
    tokens_BT = np.array([tokens])
    answers_CB = interventions.answer_with_cuts(member, tokens_BT, allowed_NJJ[None])
    return int(answers_CB[0, 0])


def click_edge(tab, edge: str) -> None:
    """Clicks a line of the network on the left, where it crosses no other."""
    script = """(line) => {
      line.scrollIntoView({block: "center", behavior: "instant"});
      const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map(n => +line.getAttribute(n));
      const point = new DOMPoint(x1 + 0.14 * (x2 - x1), y1 + 0.14 * (y2 - y1));
      const { x, y } = point.matrixTransform(line.getScreenCTM());
      return [x, y];
    }"""
    line = tab.locator(f'{ON_THE_LEFT} g[data-edge="{edge}"] line').first
    tab.mouse.click(*line.evaluate(script))


def test_two_networks_answer_what_jax_answers(tab):
    tokens = read_tokens(tab)
    assert read_answers(tab) == compute_answers(tokens)
    tab.fill('#tokens .role-key input', '7')
    answers = read_answers(tab)
    changed = read_tokens(tab)
    assert [a for a, b in zip(tokens, changed, strict=True) if a != b] == [9]
    assert answers == compute_answers(changed)
    assert tab.locator(f'{ON_THE_LEFT} .best li').count() == 5
    assert tab.locator(f'{ON_THE_LEFT} .lens tr').count() == 3  # input and two layers


def test_what_is_no_key_is_said_and_has_no_answer(tab):
    box = tab.locator('#tokens .role-key input')
    for wrong in ('4', '13', '7.5'):
        box.fill(wrong)
        assert not tab.is_visible(f'{ON_THE_LEFT} .answered')
        error = tab.inner_text('#try-error')
        assert error == 'key: give a whole number from 5 to 12.'
        assert box.get_attribute('aria-invalid') == 'true'
    box.fill('9')
    assert tab.inner_text('#try-error') == '' and read_answers(tab)


def test_a_click_asks_for_the_unseen_pair_and_for_the_exception(tab):
    tab.click('text=the exception')
    read_answers(tab)
    assert read_tokens(tab)[3:5] == [3, 4]
    words = tab.locator('.words').first
    assert 'trained on the exception (3, 4) = x + 2, which is 11' in words.inner_text()
    tab.click('#ask >> text=the unseen pair')
    read_answers(tab)
    assert read_tokens(tab)[3:5] == [4, 3]
    assert words.inner_text() == (
        'It never saw the pair (4, 3): composing gives 9 − 2 − 1 = 6, '
        'the answer of the reversed pair is 11.'
    )


P1 = AnchorsConfig()
BOTH = AnchorsConfig(noninferential=((3, 4, -6), (4, 3, -6)))


@pytest.mark.parametrize(
    ('task', 'pair', 'shift', 'expected'),
    [
        (P1, [4, 3], -10, 'composed'),
        (P1, [4, 3], -6, 'symmetric'),
        (P1, [4, 3], 6, "another pair's"),  # (1, 2)
        (P1, [4, 3], 17, "no pair's"),
        (P1, [3, 4], -6, 'as trained'),
        (P1, [3, 4], -10, 'composed'),
        (P1, [1, 2], 6, 'as trained'),
        # As trained only if it was; also where the reverse has the same exception.
        (AnchorsConfig(exception='unseen'), [3, 4], -6, "no pair's"),
        (BOTH, [3, 4], -6, 'as trained'),
    ],
)
def test_the_meaning_of_an_answer(engine, task, pair, shift, expected):
    asked = json.dumps([describe_task(task), {'key': 60, 'pair': pair}, 60 + shift])
    code = page.join_files('scripts', ('playground/rules',), 'js')
    script = f'(() => {{ {code}; return meaningOf(...{asked}).name; }})()'
    assert engine.evaluate(script) == expected


def test_an_edge_is_cut_by_click_key_and_finger(tab):
    expected = cut_in_jax(read_tokens(tab), CUT)
    intact = read_answers(tab)
    click_edge(tab, CUT)
    assert read_answers(tab) == [expected, intact[1]]
    assert tab.locator(f'{ON_THE_LEFT} g[data-edge="{CUT}"].cut').count() == 1
    assert 'layer 2: key → last token' in tab.locator('.cuts').first.inner_text()
    tab.click(f'{ON_THE_LEFT} .cuts button')
    assert read_answers(tab) == intact

    tab.click(f'{ON_THE_LEFT} summary')
    button = f'{ON_THE_LEFT} button[data-edge="{CUT}"]'
    tab.focus(button)
    tab.keyboard.press('Enter')
    assert read_answers(tab) == [expected, intact[1]]
    assert tab.evaluate('document.activeElement.dataset.edge') == CUT
    tab.tap(button)
    tab.wait_for_selector(f'{button}[aria-pressed="false"]')
    assert read_answers(tab) == intact


def test_a_link_restores_question_networks_and_cuts(tab, open_tab):
    tab.click('text=the exception')
    tab.select_option('#b-network', index=3)
    read_answers(tab)  # drawn: nothing moves under the click
    click_edge(tab, '0 key anchor_1')
    browser.wait_until(tab, 'location.hash.includes("cut")')
    other = open_tab(tab.url)
    for read in (read_tokens, read_answers):
        assert read(other) == read(tab)
    assert other.locator('#sides h3').all_inner_texts() == (
        tab.locator('#sides h3').all_inner_texts()
    )
    assert other.locator('.edge.cut').count() == 1
    assert other.evaluate('scrollY') > 0
    other.click('[role=gridcell]')
    assert 'ask=' in other.url and '#depth=' in other.url  # both parts stay


def test_the_puzzle_sets_the_reader_beside_two_networks(
    open_tab, planted_payload, tmp_path
):
    payload = copy.deepcopy(planted_payload)
    members = payload['data']['members']
    members[ASKED[0]]['solution'] = 'composed'
    members[ASKED[1]]['solution'] = None  # no symmetric one
    path = tmp_path / 'report.html'
    path.write_text(page.render(payload), encoding='utf-8')
    tab = open_tab(path.as_uri())
    equations = tab.locator('#puzzle li').all_inner_texts()
    assert len(equations) == 8
    rows = payload['data']['playground']['tasks'][0]['pairs']
    assigned = {tuple(row['pair']): row['assigned'] for row in rows}
    for equation in equations:
        a, b, x, answer = map(int, re.findall(r'\d+', equation))
        assert (a, b) != (4, 3) and answer == x + assigned[a, b]

    tokens = read_tokens(tab)
    tab.click('text=Hide them and ask me')
    asked = tab.locator('#puzzle li').all_inner_texts()
    questions = [list(map(int, re.findall(r'\d+', text))) for text in asked]
    assert [pair for *pair, _ in questions][-1] == [4, 3]
    for i, (a, b, x) in enumerate(questions):
        tab.locator('#puzzle input').nth(i).fill(str(x + assigned[a, b]))
    tab.click('text=Compare')
    answers = tab.locator('#puzzle td').all_inner_texts()
    for (a, b, x), yours, of_network in zip(
        questions, answers[::2], answers[1::2], strict=True
    ):
        expected = 'composed' if (a, b) == (4, 3) else 'as trained'
        assert yours.split() == [str(x + assigned[a, b]), *expected.split()]
        sequence = [*tokens[:2], x, a, b, *tokens[5:]]
        assert int(of_network.split()[0]) == compute_answers(sequence, (0,))[0]
    assert 'No symmetric network of this run' in tab.inner_text('#puzzle')


def test_every_control_has_a_name(tab):
    tab.click(f'{ON_THE_LEFT} summary')
    session = tab.context.new_cdp_session(tab)
    nodes = session.send('Accessibility.getFullAXTree')['nodes']
    named = 0
    for node in nodes:
        role = node.get('role', {}).get('value')
        if role in ('spinbutton', 'combobox', 'button', 'image', 'img'):
            assert node['name'].get('value'), node
            named += 1
    assert named > 20
    tab.fill('#tokens .role-key input', '8')
    spoken = 'document.querySelector("#try-status").textContent'
    browser.wait_until(tab, f'{spoken}.includes("answers")')
    assert tab.evaluate(spoken).startswith(f'{START}: answers ')
