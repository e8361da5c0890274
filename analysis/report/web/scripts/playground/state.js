// What the playground shows: one question, and the network and cut edges of each side.

// In the order of the report. Each is one of the members that the page describes.
const networks = data.playground.networks.filter(({ member }) => data.members[member]);
const SIDES = ['a', 'b'];
const CUT_SEPARATOR = ' ';

const memberOf = (network) => data.members[network.member];
const rulesOf = (network) => data.playground.tasks[network.task];

// Every anchor that some network was trained on.
const anchorsOf = (rules) => Object.keys(rules.shift_of).map(Number);
const knownAnchors = () => [...new Set(data.playground.tasks.flatMap(anchorsOf))];

const play = {
  ask: null,
  sides: [], // { name: 'a', network, cuts: Set of 'layer source target' }
  changed: false, // whether the address tells the state
};

// The networks were chosen so that all of them take the same sequences.
const sharedRules = () => data.playground.tasks[0];

function firstQuestion() {
  const rules = sharedRules();
  const [low, high] = rules.keys;
  const size = high - low;
  const noise = Array.from({ length: rules.seq_len }, (_, t) => low + ((37 * t + 15) % size));
  const wanted = Math.max(0, Math.min(2, rules.seq_len - 4));
  const position = rules.positions.includes(wanted) ? wanted : rules.positions.at(-1);
  const pair = rules.unseen[0] ?? rules.pairs[0].pair;
  return { key: low + Math.floor(size / 2), pair, position, noise };
}

function firstSides() {
  const shown = Math.min(SIDES.length, networks.length);
  return SIDES.slice(0, shown).map((name, n) => ({
    name, network: n, cuts: new Set(),
  }));
}

const networkAt = (side) => networks[side.network];

const decodedNetworks = new Map(); // decoding is slow, so each is decoded once

function readyNetwork(network) {
  if (!decodedNetworks.has(network)) {
    decodedNetworks.set(network, { model: network.model, weights: decodeWeights(network) });
  }
  return decodedNetworks.get(network);
}

const edgeName = (layer, source, target) => [layer, source, target].join(CUT_SEPARATOR);

// The answer of one side, with its cut edges.
function answerOf(side, { tokens, roles }, cuts = side.cuts) {
  const isCut = (layer, source, target) =>
    cuts.has(edgeName(layer, roles[source], roles[target]));
  return runNetwork(readyNetwork(networkAt(side)), tokens, cuts.size ? isCut : undefined);
}

const highest = (values) => values.reduce((best, v, i) => (v > values[best] ? i : best), 0);

// The part of the address that restores the state; null while nothing was changed.
function playgroundAddress() {
  if (!play.changed) return null;
  const { tokens } = sequenceOf(sharedRules(), play.ask);
  const entries = [['ask', tokens.join(CUT_SEPARATOR)]];
  for (const side of play.sides) {
    const { point } = memberOf(networkAt(side));
    for (const axis of varying) entries.push([`${side.name}.${axis}`, String(point[axis])]);
    for (const cut of side.cuts) entries.push([`${side.name}.cut`, cut]);
  }
  return entries;
}

// Whether the text is the name of an edge of a network of this depth.
function isEdgeName(text, depth) {
  const [layer, ...roles] = text.split(CUT_SEPARATOR);
  return /^\d+$/.test(layer) && Number(layer) < depth
    && roles.length === 2 && roles.every((role) => known(role));
}

// Whether the address has a state that can be shown; what it does not name stays.
function readPlaygroundAddress(query) {
  const tokens = (query.get('ask') ?? '').split(CUT_SEPARATOR).map(Number);
  const ask = questionOf(sharedRules(), knownAnchors(), tokens);
  if (!ask) return false;
  play.ask = ask;
  play.changed = true;
  for (const side of play.sides) {
    const wanted = varying.filter((axis) => query.has(`${side.name}.${axis}`));
    const found = networks.findIndex((network) => wanted.every((axis) =>
      String(memberOf(network).point[axis]) === query.get(`${side.name}.${axis}`)));
    if (wanted.length && found >= 0) side.network = found;
    const { depth } = networkAt(side).model;
    const cuts = query.getAll(`${side.name}.cut`);
    side.cuts = new Set(cuts.filter((cut) => isEdgeName(cut, depth)));
  }
  return true;
}
