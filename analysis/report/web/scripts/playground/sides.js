// A side of the playground: its network, chosen by name, and what it answers.

function makeSide(side) {
  const list = h('select', { id: `${side.name}-network`, onchange: () => {
    side.network = Number(list.value);
    play.changed = true;
    redraw([side]);
  } }, networks.map((network, i) => h('option', { value: i },
    `${memberOf(network).name} (${memberOf(network).solution ?? memberOf(network).status})`)));
  const parts = {
    list,
    title: h('h3', { id: `${side.name}-title` }),
    solution: h('p', { class: 'verdict-line' }),
    words: h('p', { class: 'note words' }),
    answer: h('div', { class: 'answered' }),
    numbers: h('div', { class: 'panels' }),
    flow: h('div', { class: 'flow-panel' }),
    cut: h('div', {}),
    edges: h('div', { class: 'choice' }),
  };
  side.parts = parts;
  const more = h('details', { class: 'edges', ontoggle: () => redraw([side]) },
    h('summary', {}, 'Edges as a list of buttons'), parts.edges);
  side.list = more;
  return h('article', { class: 'side', 'aria-labelledby': `${side.name}-title` },
    networks.length > 1 ? h('label', { class: 'networks' }, 'network ', list) : null,
    parts.title, parts.solution, parts.words, parts.answer, parts.flow, parts.cut, more,
    parts.numbers,
    copyButton('Copy numbers', () => answerNumbers(side, side.sequence, side.result)));
}

function describeSide(side) {
  const member = memberOf(networkAt(side));
  const { list, title, solution } = side.parts;
  title.textContent = member.name;
  const converged = member.status === 'trained' ? '' : `⚠ ${member.status}`;
  solution.replaceChildren(...solutionWords(member),
    h('strong', { class: 'warning' }, converged));
  list.value = side.network;
}

function drawSide(side) {
  const rules = rulesOf(networkAt(side));
  const { ask } = play;
  const { parts } = side;
  side.sequence = sequenceOf(rules, ask);
  side.result = answerOf(side, side.sequence);
  const { logits, lens } = side.result;
  const layers = side.result.layers.map(meanAttention);
  const toggle = (edge) => toggleEdge(side, edge);
  const edges = listEdges(layers, side.sequence.roles);
  drawFlow(side, edges, layers, toggle);
  describeSide(side);
  parts.words.textContent = questionWords(rules, ask);
  parts.answer.replaceChildren(answerLine(rules, ask, logits));
  const restore = () => { side.cuts.clear(); play.changed = true; redraw([side]); };
  parts.cut.replaceChildren(cutLine(side, side.sequence, highest(logits), restore));
  parts.numbers.replaceChildren(bestList(rules, ask, logits), lensTable(rules, ask, lens));
  if (side.list.open) drawEdgeButtons(side, edges, toggle);
}

function drawFlow(side, edges, layers, toggle) {
  const key = flowKey(side.sequence, layers);
  if (side.flow?.key !== key) {
    side.flow = { key, ...makeFlow(side.sequence, layers, toggle) };
    side.parts.flow.replaceChildren(side.flow.svg);
  }
  side.flow.show(edges, side.cuts, layers);
}

// The buttons are drawn again: the focus returns to the one that was pressed.
function drawEdgeButtons(side, edges, toggle) {
  const pressed = side.parts.edges.contains(document.activeElement)
    ? document.activeElement.dataset.edge : null;
  side.parts.edges.replaceChildren(...edgeButtons(side, edges, toggle));
  if (pressed === null) return;
  [...side.parts.edges.children].find((one) => one.dataset.edge === pressed)?.focus();
}

function toggleEdge(side, edge) {
  if (!side.cuts.delete(edge)) side.cuts.add(edge);
  play.changed = true;
  redraw([side]);
}

// In words, for a screen reader: what every side answers now.
function sayAnswers() {
  const said = play.sides.map((side) => {
    const { name: network } = memberOf(networkAt(side));
    const answer = highest(side.result.logits);
    const { name } = meaningOf(rulesOf(networkAt(side)), play.ask, answer);
    const cut = side.cuts.size ? `, ${side.cuts.size} edges cut` : '';
    return `${network}${cut}: answers ${answer}, ${name}`;
  });
  $('try-status').textContent = said.join('. ');
}
