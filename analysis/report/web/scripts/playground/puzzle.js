// "Remember and test", the puzzle of P1's slides: eight equations to look at, four questions,
// then the reader's answers beside those of a composing and of a symmetric network.

const EQUATIONS = 8;
const KINDS = ['you have seen it', 'seen with another number', 'a pair that was not shown',
  'a pair that no network was trained on'];

// One network of each solution that knows the page's first task; without one, undefined.
const puzzleNetworks = ['composed', 'symmetric'].map((solution) => ({ solution,
  network: networks.find((one) => one.task === 0 && memberOf(one).solution === solution) }));

const drawFrom = (values) => values[Math.floor(Math.random() * values.length)];

// What is shown and what is asked: rows of the task with a key; a question also has its kind.
// The exception is shown, and equal anchors, which tell what each adds.
function makePuzzle(rules) {
  const [low, high] = rules.keys;
  const keys = Array.from({ length: high - low }, (_, i) => low + i);
  const telling = ({ pair: [a, b], assigned, composed }) => 2 * (assigned !== composed) + (a === b);
  const trained = rules.pairs.filter((row) => !row.is_unseen)
    .sort((row, other) => telling(other) - telling(row));
  const shown = trained.slice(0, EQUATIONS).map((row) => ({ ...row, key: drawFrom(keys) }));
  const seen = shown.at(-1);
  const another = drawFrom(keys.filter((key) => key !== seen.key));
  const rows = [seen, { ...seen, key: another }, trained[EQUATIONS], pairRow(rules, rules.unseen[0])];
  const asked = rows.map((row, i) => row && { key: drawFrom(keys), ...row, kind: KINDS[i] });
  return { shown, asked: asked.filter(Boolean) };
}

function puzzleAnswer(network, ask) {
  const { tokens } = sequenceOf(rulesOf(network), { ...firstQuestion(), ...ask });
  return highest(runNetwork(readyNetwork(network), tokens).logits);
}

const equation = ({ pair, key }) => `(${pair.join(', ')}, ${key}) =`;

const puzzleButton = (text, onclick) => h('button', { type: 'button', class: 'quiet', onclick }, text);

function showPuzzle() {
  const puzzle = makePuzzle(sharedRules());
  const lines = puzzle.shown.map((row) => h('li', {}, `${equation(row)} ${row.key + row.assigned}`));
  $('puzzle').replaceChildren(h('ol', { class: 'equations' }, lines),
    puzzleButton('Hide them and ask me', () => askPuzzle(puzzle.asked)));
}

function askPuzzle(asked) {
  const boxes = asked.map((ask) =>
    h('input', { type: 'number', step: 1, inputmode: 'numeric', 'aria-label': equation(ask) }));
  const lines = asked.map((ask, i) => h('li', {}, `${equation(ask)} `, boxes[i]));
  $('puzzle').replaceChildren(h('ol', { class: 'equations' }, lines),
    puzzleButton('Compare', () => comparePuzzle(asked, boxes.map(({ value }) => value))));
  boxes[0].focus();
}

// An answer with its meaning; of the reader, '' is none.
function puzzleCell(ask, answer) {
  if (answer === '') return h('td', {}, MISSING);
  const meaning = meaningOf(sharedRules(), ask, Number(answer));
  return h('td', {}, h('b', {}, String(answer)), ' ', meaningSwatch(meaning), ' ', meaning.name);
}

function comparePuzzle(asked, yours) {
  const found = puzzleNetworks.filter(({ network }) => network);
  const heads = ['', 'you', ...found.map(({ network, solution }) =>
    `a ${solution} network: ${memberOf(network).name}`)];
  const rows = asked.map((ask, i) => h('tr', {},
    h('th', { scope: 'row' }, `${equation(ask)} ? `, h('span', { class: 'meaning' }, ask.kind)),
    puzzleCell(ask, yours[i]),
    found.map(({ network }) => puzzleCell(ask, puzzleAnswer(network, ask)))));
  const missing = puzzleNetworks.filter(({ network }) => !network).map(({ solution }) =>
    h('p', { class: 'note' }, `No ${solution} network of this run can be asked.`));
  $('puzzle').replaceChildren(h('div', { class: 'scroll', tabindex: 0 },
    h('table', { class: 'lens' },
      h('thead', {}, h('tr', {}, heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', {}, rows))), ...missing, puzzleButton('Once more', showPuzzle));
  $('puzzle').lastChild.focus();
}
