"""The playground in a real browser: asking, comparing, cutting, sending as a link."""

import json

import numpy as np
import pytest

from analysis.circuits import interventions
from analysis.report import page
from analysis.report.playground.describe import describe_task
from anchorjax.tasks import AnchorsConfig
from tests.support.pages import playground_sample, report_sample
from tests.support.pages.browser import Page

# Of the side on the left and of the one on the right.
ANSWERS = '[...document.querySelectorAll("strong.number")].map(e => +e.textContent)'
TITLES = '[...document.querySelectorAll("#sides h3")].map(e => e.textContent)'
TOKENS = '[...document.querySelectorAll("#tokens li")].map(e => +e.firstChild.value)'
SLIDERS = [f'#{side}-slider' for side in 'ab']
START = 'depth 1, γ 0.3, seed 0'


def set_value(tab: Page, selector: str, value: int, event: str = 'input') -> None:
    """Types into a box, or picks from a list."""
    box = f'document.querySelector({json.dumps(selector)})'
    tab.value(f'{box}.value = "{value}"; {box}.dispatchEvent(new Event("{event}"))')


def wait_for_frame(tab: Page) -> None:
    tab.value('new Promise(done => requestAnimationFrame(() => setTimeout(done)))')


def open_edge_list(tab: Page) -> None:
    """Opens the list of edges on the left; its buttons are drawn after it is open.

    The browser says that it is open in a task of its own, and the page draws in the
    frame after that: under load this is later than the next frame.
    """
    tab.click('.side:first-child summary')
    tab.wait('document.querySelector(".side:first-child .edges button")')


def compute_answers(tokens: list[int], numbers: tuple[int, int] = (0, 1)) -> list[int]:
    """What JAX says that two networks of the sample answer."""
    answers = []
    for number in numbers:
        member = playground_sample.make_networks()[number]
        logits = member.forward(np.array([tokens])).logits
        answers.append(int(logits[0, -1].argmax()))
    return answers


@pytest.fixture
def playing(sample: Page) -> Page:
    """The sample; the sides show its first two networks."""
    assert sample.value(TITLES) == [START, 'depth 1, γ 0.6, seed 1']
    return sample


def test_two_networks_answer_what_jax_answers(playing):
    tokens = playing.value(TOKENS)
    assert playing.value(ANSWERS) == compute_answers(tokens)
    set_value(playing, '#tokens .role-key input', 7)
    wait_for_frame(playing)
    changed = playing.value(TOKENS)
    assert [a for a, b in zip(tokens, changed, strict=True) if a != b] == [9]
    assert playing.value(ANSWERS) == compute_answers(changed)
    best = 'document.querySelectorAll("#sides .side:first-child .best li").length'
    assert playing.value(best) == 5
    lens = 'document.querySelectorAll("#sides .side:first-child .lens tr").length'
    assert playing.value(lens) == 3  # the input and two layers


def test_what_is_no_key_is_said_and_changes_nothing(playing):
    before = playing.value(ANSWERS)
    for wrong in (4, 13, 7.5):
        set_value(playing, '#tokens .role-key input', wrong)
        wait_for_frame(playing)
        error = playing.value('document.querySelector("#try-error").textContent')
        assert error == 'key: give a whole number from 5 to 12.'
        box = 'document.querySelector("#tokens .role-key input").ariaInvalid'
        assert playing.value(box) == 'true'
        assert playing.value(ANSWERS) == before
    set_value(playing, '#tokens .role-key input', 9)
    assert playing.value('document.querySelector("#try-error").textContent') == ''


def test_a_click_asks_for_the_unseen_pair_and_for_the_exception(playing):
    playing.click('#ask button:nth-of-type(2)')
    wait_for_frame(playing)
    assert playing.value(TOKENS)[3:5] == [3, 4]
    words = 'document.querySelector(".words").textContent'
    said = playing.value(words)
    assert 'trained on the exception (3, 4) = x + 2, which is 11' in said
    playing.click('#ask button:nth-of-type(1)')
    wait_for_frame(playing)
    assert playing.value(TOKENS)[3:5] == [4, 3]
    expected = (
        'It never saw the pair (4, 3): composing gives 9 − 2 − 1 = 6, '
        'the answer of the reversed pair is 11.'
    )
    assert playing.value(words) == expected


def test_the_meaning_of_every_answer(engine):
    """By hand: of the pair (4, 3), of the exception, and of a trained pair."""
    rules = playground_sample.make_playground()['tasks'][0]
    cases = (
        ([4, 3], 6, 'inferential'),
        ([4, 3], 11, 'symmetric'),
        ([4, 3], 13, "another pair's"),  # (1, 2) is x + 4
        ([4, 3], 19, "no pair's"),
        ([3, 4], 11, 'as trained'),
        ([3, 4], 6, 'inferential'),
        ([1, 2], 13, 'as trained'),
    )
    code = page.join_files('scripts', ('playground/rules',), 'js')
    for pair, answer, expected in cases:
        asked = json.dumps([rules, {'key': 9, 'pair': pair}, answer])
        script = f'(() => {{ {code}; return meaningOf(...{asked}).name; }})()'
        assert engine.value(script) == expected, (pair, answer)


def test_an_answer_is_as_trained_only_if_it_was_trained(engine):
    """The exception unseen; and a pair whose reverse has the same exception."""
    code = page.join_files('scripts', ('playground/rules',), 'js')
    cases = (
        ((AnchorsConfig(exception='unseen'), [3, 4]), -6, "no pair's"),
        (
            (AnchorsConfig(noninferential=((3, 4, -6), (4, 3, -6))), [3, 4]),
            -6,
            'as trained',
        ),
    )
    for (task, pair), shift, expected in cases:
        rules = describe_task(task)
        asked = json.dumps([rules, {'key': 60, 'pair': pair}, 60 + shift])
        script = f'(() => {{ {code}; return meaningOf(...{asked}).name; }})()'
        assert engine.value(script) == expected


def test_the_weight_of_an_edge_is_a_share(engine):
    """Every position reads all up to itself equally: by hand for four tokens."""
    roles = ['noise', 'key', 'anchor_1', 'noise']
    attention = []
    for t in range(4):
        attention.append([1 / (t + 1)] * (t + 1) + [0] * (3 - t))
    code = page.join_files('scripts', ('playground/state', 'playground/edges'), 'js')
    asked = json.dumps([[attention], roles])
    script = f"""(() => {{
const data = {{ playground: {{ networks: [], tasks: [] }}, members: [] }};
const fixed = String, share = String;
{code}
const edges = listEdges(...{asked});
return Object.fromEntries(edges.map((e) => [e.name, e.weight])); }})()"""
    weights = engine.value(script)
    # Two noise tokens, of which the first reads nothing before it.
    assert weights['0 noise noise'] == pytest.approx(1 / 8)
    assert weights['0 key noise'] == pytest.approx(1 / 8)
    assert weights['0 noise key'] == pytest.approx(1 / 2)
    assert weights['0 key anchor_1'] == pytest.approx(1 / 3)


def test_the_position_moves_the_three_tokens(playing):
    set_value(playing, '#ask-position', 0, 'change')
    wait_for_frame(playing)
    tokens = playing.value(TOKENS)
    assert tokens[1:3] == [4, 3]
    roles = '[...document.querySelectorAll("#tokens li")].map(e => e.className)'
    assert playing.value(roles)[:3] == ['role-key', 'role-anchor_1', 'role-anchor_2']
    assert playing.value(ANSWERS) == compute_answers(tokens)


def test_the_slider_steps_through_the_networks_by_gamma(playing):
    playing.value(f'document.querySelector("{SLIDERS[0]}").focus()')
    texts = []
    for _ in range(4):
        wait_for_frame(playing)
        texts.append(playing.value(f'{TITLES}[0]'))
        playing.send(
            'Input.dispatchKeyEvent',
            type='keyDown',
            key='ArrowRight',
            code='ArrowRight',
            windowsVirtualKeyCode=39,
        )
        playing.send('Input.dispatchKeyEvent', type='keyUp', key='ArrowRight')
    gammas = [text.split('γ ')[1].split(',')[0] for text in texts]
    assert gammas == ['0.3', '0.6', '1.2', '1.5']
    tokens = playing.value(TOKENS)
    assert playing.value(ANSWERS) == compute_answers(tokens, (3, 1))
    spoken = f'document.querySelector("{SLIDERS[0]}").getAttribute("aria-valuetext")'
    assert playing.value(spoken).startswith('depth 2, γ 1.5, seed 0: ')


def cut_in_jax(tokens: list[int], edge: str) -> int:
    """The first network's answer without an edge, by analysis/circuits."""
    member = playground_sample.make_networks()[0]
    names = member.task.role_names
    layer, source, target = edge.split(' ')
    allowed_NJJ = np.ones((member.depth, len(names), len(names)), bool)
    allowed_NJJ[int(layer), names.index(source), names.index(target)] = False
    tokens_BT = np.array([tokens])
    answers_CB = interventions.answer_with_cuts(member, tokens_BT, allowed_NJJ[None])
    return int(answers_CB[0, 0])


def click_edge(tab: Page, edge: str) -> None:
    """Clicks a line of the network on the left, where it crosses no other."""
    line = f'document.querySelector(\'.side:first-child g[data-edge="{edge}"] line\')'
    script = f"""((line) => {{
      line.scrollIntoView({{block: "center", behavior: "instant"}});
      const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map(n => +line.getAttribute(n));
      const point = new DOMPoint(x1 + 0.14 * (x2 - x1), y1 + 0.14 * (y2 - y1));
      const {{ x, y }} = point.matrixTransform(line.getScreenCTM());
      return [x, y];
    }})({line})"""
    tab.click_at(*tab.value(script))


def test_an_edge_is_cut_by_click_key_and_finger(playing):
    edge = '1 key last'
    expected = cut_in_jax(playing.value(TOKENS), edge)
    intact = playing.value(ANSWERS)
    cut = f'document.querySelector(\'.side:first-child g[data-edge="{edge}"].cut\')'
    click_edge(playing, edge)
    wait_for_frame(playing)
    assert playing.value(f'Boolean({cut})')
    assert playing.value(ANSWERS) == [expected, intact[1]]
    assert 'layer 2: key → last token' in playing.value(
        'document.querySelector(".cuts").textContent'
    )
    playing.click('.side:first-child .cuts button')
    wait_for_frame(playing)
    assert not playing.value(f'Boolean({cut})')
    assert playing.value(ANSWERS) == intact

    open_edge_list(playing)
    button = f'.side:first-child button[data-edge="{edge}"]'
    playing.value(f"document.querySelector('{button}').focus()")
    playing.press('Enter')
    wait_for_frame(playing)
    assert playing.value(ANSWERS) == [expected, intact[1]]
    pressed = 'document.activeElement.ariaPressed + document.activeElement.dataset.edge'
    assert playing.value(pressed) == f'true{edge}'

    # A tap becomes a click in a task of its own, too.
    playing.tap(button)
    restored = f'document.querySelector(\'{button}[aria-pressed="false"]\')'
    playing.wait(restored)
    assert playing.value(ANSWERS) == intact


def test_a_link_restores_question_networks_and_cuts(playing, urls):
    playing.click('#ask button:nth-of-type(2)')
    set_value(playing, SLIDERS[1], 3)
    click_edge(playing, '0 key anchor_1')
    playing.wait('location.hash.includes("cut")')
    shown = [playing.value(script) for script in (TOKENS, TITLES, ANSWERS)]
    address = playing.value('location.href')
    playing.open(address)
    assert [playing.value(script) for script in (TOKENS, TITLES, ANSWERS)] == shown
    assert playing.value('document.querySelectorAll(".edge.cut").length') == 1
    playing.wait('scrollY > 0')
    playing.click('[role=gridcell]')
    assert 'ask=' in playing.value('location.hash')  # both parts stay
    assert playing.value('location.hash').startswith('#depth=')


@pytest.mark.parametrize(
    'fragment',
    ['ask=9', 'ask=5+6+7+8+9+10', 'ask=9+4+3+x+5+6', 'ask=1e9+4+3+5+6+7', 'a.cut=1+a'],
)
def test_a_link_that_makes_no_sense_is_left_alone(fragment, playing, urls):
    tokens = playing.value(TOKENS)
    playing.open(f'{urls["sample"]}#{fragment}&a.gamma=77')
    assert playing.value(TOKENS) == tokens
    assert playing.value(TITLES)[0] == START


def test_every_control_has_a_name(playing):
    open_edge_list(playing)
    nodes = playing.send('Accessibility.getFullAXTree')['nodes']
    named = 0
    for node in nodes:
        role = node.get('role', {}).get('value')
        if role in ('spinbutton', 'combobox', 'slider', 'button', 'image', 'img'):
            assert node['name'].get('value'), node
            named += 1
    assert named > 40
    spoken = 'document.querySelector("#try-status").textContent'
    set_value(playing, '#tokens .role-key input', 8)
    playing.wait(f'{spoken}.includes("answers")')
    assert playing.value(spoken).startswith(f'{START}: answers ')


def test_a_page_without_networks_says_why_in_one_sentence(open_payload):
    payload = report_sample.make_payload()
    why = 'No network can be asked here: the playground runs transformers.'
    payload['playground'] = {'missing': why, 'networks': [], 'tasks': []}
    tab = open_payload(payload)
    assert tab.problems == []
    assert tab.value('document.querySelector("#try").innerText').endswith(why)
    assert tab.value('document.querySelectorAll("#try :is(input, button)").length') == 0


def test_one_network_is_shown_alone(open_payload):
    payload = report_sample.make_payload()
    payload['playground']['networks'] = payload['playground']['networks'][2:3]
    tab = open_payload(payload)
    assert tab.problems == []
    assert tab.value('document.querySelectorAll(".side").length') == 1
    tokens = tab.value(TOKENS)
    assert tab.value(ANSWERS) == compute_answers(tokens, (2,))


def test_it_prints_white_and_without_controls(sample):
    sample.click('#theme')  # dark
    sample.send('Emulation.setEmulatedMedia', media='print')
    sample.value('dispatchEvent(new Event("beforeprint"))')
    try:
        colour = 'getComputedStyle(document.body).backgroundColor'
        assert sample.value(colour) == 'rgb(253, 253, 251)'
        hidden = '["nav", "#ask", ".slider", ".copy", "#controls"].map(e => '
        hidden += 'document.querySelector(e).checkVisibility())'
        assert not any(sample.value(hidden))
        assert sample.value(
            '[...document.querySelectorAll("#sides h3")]'
            '.every(e => e.checkVisibility())'
        )
        assert sample.value('document.querySelector("#provenance details").open')
    finally:
        sample.send('Emulation.setEmulatedMedia', media='')
    sample.value('dispatchEvent(new Event("afterprint"))')
    assert sample.value('document.documentElement.dataset.theme') == 'dark'


def test_numbers_are_copied_as_a_table(sample):
    """Where the browser refuses, they are shown selected; here it is made to."""
    sample.value('navigator.clipboard.writeText = () => Promise.reject(new Error())')
    sample.click('.side:first-child > .copy')
    sample.wait('document.querySelector("#copied").open')
    text = sample.value('document.querySelector("#copied textarea").value')
    rows = [line.split('\t') for line in text.splitlines()]
    assert rows[0] == ['network', START]
    member = playground_sample.make_networks()[0]
    tokens = [int(token) for token in rows[1][1:]]
    start = rows.index(['answer', 'logit', 'probability']) + 1
    logits = [float(row[1]) for row in rows[start : start + 20]]
    expected_V = member.forward(np.array([tokens])).logits[0, -1]
    np.testing.assert_allclose(logits, expected_V, atol=1e-4)
    sample.click('#copied button')
    sample.click('.claims + .copy')
    sample.wait('document.querySelector("#copied").open')
    text = sample.value('document.querySelector("#copied textarea").value')
    assert text.splitlines()[0].startswith('Source\tThe paper says\tThis run')
