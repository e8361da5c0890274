// What a network answers: the answer and its meaning, the five likeliest, the answer
// after each layer.

const BEST = 5;

const chance = (p) => (p > 0.9995 && p < 1 ? '> 0.999' : p.toFixed(3));

const meaningSwatch = ({ solution }) => swatch(solutionClassOf(solution));
const solutionClassOf = (name) => (name === 'heldout' ? name : solutionClass(name));

function answerLine(rules, ask, logits) {
  const probabilities = softmax(logits);
  const answer = highest(logits);
  const meaning = meaningOf(rules, ask, answer);
  return h('p', { class: 'answer-line' },
    'answers ', h('strong', { class: 'number' }, String(answer)), ' ',
    meaningSwatch(meaning), h('b', {}, meaning.name),
    h('span', {}, `${meaning.why}; probability ${chance(probabilities[answer])}`));
}

function bestList(rules, ask, logits) {
  const probabilities = softmax(logits);
  const order = Array.from(logits.keys()).sort((i, j) => logits[j] - logits[i]).slice(0, BEST);
  const rows = order.map((token) => {
    const meaning = meaningOf(rules, ask, token);
    const bar = h('span', {
      class: `likely ${solutionClassOf(meaning.solution)}`, 'aria-hidden': 'true',
    });
    bar.style.setProperty('--share', probabilities[token]);
    return h('li', {}, h('b', {}, String(token)), h('span', {}, chance(probabilities[token])),
      bar, h('span', { class: 'meaning' }, meaning.name));
  });
  return panelOf('The five likeliest answers', 'probability', h('ol', { class: 'best' }, rows));
}

// Each row: what the network would answer if its last layers were left out.
function lensTable(rules, ask, lens) {
  const rows = lens.map((logits, n) => {
    const answer = highest(logits);
    const meaning = meaningOf(rules, ask, answer);
    return h('tr', {},
      h('th', { scope: 'row' }, n ? `after layer ${n}` : 'input'),
      h('td', {}, h('b', {}, String(answer))),
      h('td', {}, meaningSwatch(meaning), ' ', meaning.name),
      h('td', {}, chance(softmax(logits)[answer])));
  });
  return panelOf('The answer after each layer', 'without the layers above',
    h('table', { class: 'lens' }, h('tbody', {}, rows)));
}

const panelOf = (title, unit, ...content) => h('div', { class: 'panel' },
  h('p', { class: 'panel-title' }, h('strong', {}, title), ' ', h('span', {}, unit)), ...content);

// All numbers of a side as a table to paste.
function answerNumbers(side, sequence, result) {
  const lines = [['network', memberOf(networkAt(side)).name]];
  lines.push(['tokens', ...sequence.tokens], ['cut', ...[...side.cuts].map(cutWords)]);
  lines.push(['answer', 'logit', 'probability']);
  const probabilities = softmax(result.logits);
  result.logits.forEach((logit, token) => lines.push([token, logit, probabilities[token]]));
  result.layers.forEach((block, n) => meanAttention(block).forEach((row, t) =>
    lines.push([`attention, layer ${n + 1}, position ${t + 1}`, ...row])));
  return toTable(lines);
}
