// The anchor task: how a sequence is made of what is asked, and what an answer means.
// `rules` is a task of the payload, of analysis/report/playground.py.

const TOKEN_ORDERS = {
  key_first: ['key', 'anchor_1', 'anchor_2'],
  anchors_first: ['anchor_1', 'anchor_2', 'key'],
};

// ask: { key, pair, position (of the first of the three tokens), noise }.
function sequenceOf(rules, { key, pair, position, noise }) {
  const items = { key, anchor_1: pair[0], anchor_2: pair[1] };
  const tokens = noise.slice(0, rules.seq_len);
  const roles = tokens.map((_, t) => (t === tokens.length - 1 ? 'last' : 'noise'));
  TOKEN_ORDERS[rules.order].forEach((role, i) => {
    tokens[position + i] = items[role];
    roles[position + i] = role;
  });
  return { tokens, roles };
}

// The question in a sequence of tokens, or null: two anchors side by side, a key item
// next to them, and key items everywhere else.
function questionOf(rules, anchors, tokens) {
  const order = TOKEN_ORDERS[rules.order];
  const first = tokens.findIndex((token) => anchors.includes(token));
  const position = first - order.indexOf('anchor_1');
  const key = tokens[position + order.indexOf('key')];
  const pair = [tokens[first], tokens[first + 1]];
  const ask = { key, pair, position, noise: [...tokens] };
  const isKey = (token) => Number.isInteger(token)
    && token >= rules.keys[0] && token < rules.keys[1];
  if (first < 0 || tokens.length !== rules.seq_len || !anchors.includes(pair[1])) return null;
  if (!rules.positions.includes(position)) return null;
  if (tokens.some((token, t) => t !== first && t !== first + 1 && !isKey(token))) return null;
  for (const t of [first, first + 1]) ask.noise[t] = key;
  return ask;
}

const pairName = ([a, b]) => `(${a}, ${b})`;

const samePair = ([a, b], [c, d]) => a === c && b === d;

// The row of a pair, or undefined: the network was trained without one of the anchors.
const pairRow = (rules, pair) => rules.pairs.find((row) => samePair(row.pair, pair));

// What an answer to a question means: { name, solution (for the colour), why }.
function meaningOf(rules, { key, pair }, answer) {
  const row = pairRow(rules, pair);
  if (!row) return { name: 'no meaning', solution: 'neither', why: 'an anchor is unknown to it' };
  const shift = answer - key;
  const why = `x ${signed(shift)}`;
  // An unseen pair has an assigned answer, too, but was never trained with it.
  if (!row.is_unseen && shift === row.assigned) {
    return { name: 'as trained', solution: 'heldout', why };
  }
  if (row.is_unseen || row.assigned !== row.composed) {
    if (shift === row.composed) return { name: 'composed', solution: 'composed', why };
    if (shift === row.symmetric) return { name: 'symmetric', solution: 'symmetric', why };
  }
  const others = rules.pairs.filter((other) => !other.is_unseen && other.assigned === shift);
  if (!others.length) return { name: 'no pair\'s', solution: 'memorizing', why };
  const names = others.slice(0, 3).map(({ pair: other }) => pairName(other)).join(', ');
  const more = others.length > 3 ? ` and ${others.length - 3} more` : '';
  return { name: 'another pair\'s', solution: 'neither', why: `${why}, as ${names}${more}` };
}

const signed = (shift) => `${shift < 0 ? '−' : '+'} ${Math.abs(shift)}`;
