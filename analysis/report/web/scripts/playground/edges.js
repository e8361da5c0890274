// The attention of a network on the question, as flow; a click on a line cuts its edge.
// An edge is all that positions of one role read from those of another in one layer.

const REACH = 14; // how far from a line a finger may be, in units of the drawing

// Every edge that the sequence has: { layer, source, target, weight, name, lines }.
// Its weight is the share of its reading that a position of the target role spends on the
// source, on average over all positions of that role.
function listEdges(layers, roles) {
  const edges = new Map();
  const readersOf = (role) => roles.filter((other) => other === role).length;
  const readers = roles.map(readersOf);
  layers.forEach((attention, layer) => attention.forEach((row, target) =>
    row.slice(0, target).forEach((weight, source) => {
      const name = edgeName(layer, roles[source], roles[target]);
      const edge = edges.get(name) ?? {
        layer, source: roles[source], target: roles[target], name, weight: 0, lines: [],
      };
      edge.weight += weight / readers[target];
      edge.lines.push({ source, target, weight });
      edges.set(name, edge);
    })));
  return [...edges.values()];
}

const edgeWords = ({ layer, source, target }) =>
  `layer ${layer + 1}: ${roleName(source)} → ${roleName(target)}`;

function cutWords(cut) {
  const [layer, source, target] = cut.split(CUT_SEPARATOR);
  return edgeWords({ layer: Number(layer), source, target });
}

const lineWidth = (weight) => fixed(Math.max(0.4, 6 * weight));

// The lines of an edge, for any attention: `show` sets what a network pays, or a cut.
function edgeLines(edge, { x, y }) {
  const words = s('title');
  const lines = edge.lines.map(({ source, target }) => s('line', {
    x1: fixed(x(source)), y1: y(edge.layer), x2: fixed(x(target)), y2: y(edge.layer + 1),
    class: `flow ${roleClass(edge.source)}`,
  }));
  const element = s('g', { class: 'edge', 'data-edge': edge.name }, words, lines);
  const show = ({ weight, lines: drawn }, isCut) => {
    element.classList.toggle('cut', isCut);
    words.textContent = `${edgeWords(edge)}: ${isCut ? 'cut' : share(weight)}`;
    lines.forEach((line, i) => showLine(line, drawn[i].weight, isCut));
  };
  return { element, show };
}

function showLine(line, weight, isCut) {
  const isDrawn = isCut || weight >= FLOW.least;
  line.setAttribute('visibility', isDrawn ? 'visible' : 'hidden');
  line.setAttribute('stroke-width', isCut ? 1.2 : lineWidth(weight));
}

// How far a point is from a line of the drawing.
function distanceTo(line, x, y) {
  const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map((name) => Number(line.getAttribute(name)));
  const along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2);
  const at = Math.min(1, Math.max(0, along));
  return Math.hypot(x - x1 - at * (x2 - x1), y - y1 - at * (y2 - y1));
}

// The edge whose line is nearest to the pointer: lines are thin and cross each other.
function nearestEdge(svg, event) {
  const { x, y } = new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(svg.getScreenCTM().inverse());
  const lines = [...svg.querySelectorAll('.edge line:not([visibility=hidden])')];
  const far = lines.map((line) => distanceTo(line, x, y));
  const best = far.indexOf(Math.min(...far));
  return best >= 0 && far[best] <= REACH ? lines[best].parentNode : null;
}

function listenToEdges(svg, toggle) {
  svg.addEventListener('click', (event) => {
    const edge = nearestEdge(svg, event);
    if (edge) toggle(edge.dataset.edge);
  });
  const mark = (edge) => {
    svg.querySelectorAll('.near').forEach((one) => one.classList.remove('near'));
    edge?.classList.add('near');
    svg.classList.toggle('can-cut', Boolean(edge));
  };
  svg.addEventListener('pointermove', (event) => mark(nearestEdge(svg, event)));
  svg.addEventListener('pointerleave', () => mark(null));
}

// What a position reads of itself is never cut.
function ownLines(layers, { roles }, { x, y }) {
  const lines = layers.map((attention, n) => attention.map((_, t) => s('line', {
    x1: fixed(x(t)), y1: y(n), x2: fixed(x(t)), y2: y(n + 1),
    class: `flow ${roleClass(roles[t])}`,
  })));
  const show = (shown) => shown.forEach((attention, n) => attention.forEach((row, t) =>
    showLine(lines[n][t], row[t], false)));
  return { elements: lines.flat(), show };
}

// The drawing of one sequence. `show` draws a network's attention into it: its elements
// stay, because making them anew for every other network costs most of a frame.
function makeFlow(sequence, layers, toggle) {
  const scales = flowScales({ ...sequence, layers });
  const own = ownLines(layers, sequence, scales);
  const drawn = listEdges(layers, sequence.roles).map((edge) => edgeLines(edge, scales));
  // Noise is drawn first, so that it hides nothing.
  const isNoise = (edge) => edge.dataset.edge.includes(`${CUT_SEPARATOR}noise${CUT_SEPARATOR}`);
  const elements = drawn.map(({ element }) => element)
    .sort((a, b) => isNoise(b) - isNoise(a));
  const group = s('g', {}, elements);
  const svg = drawing(FLOW.width, scales.height, '', own.elements, group,
    flowNodes({ ...sequence, layers }, scales.x, scales.y));
  listenToEdges(svg, toggle);
  const show = (edges, cuts, shown) => {
    own.show(shown);
    edges.forEach((edge, i) => drawn[i].show(edge, cuts.has(edge.name)));
    svg.setAttribute('aria-label', `Attention on the tokens ${sequence.tokens.join(', ')}: `
      + `${flowSentence({ ...sequence, layers: shown })}.`);
  };
  return { svg, show };
}

// Sequences of the same tokens and roles, and networks of the same depth, share a drawing.
const flowKey = ({ tokens, roles }, layers) => [tokens, roles, layers.length].join(';');

// The same edges as buttons, for the keyboard and the screen reader.
function edgeButtons(side, edges, toggle) {
  return edges.map((edge) => h('button', {
    type: 'button', 'aria-pressed': String(side.cuts.has(edge.name)), 'data-edge': edge.name,
    onclick: () => toggle(edge.name),
  }, side.cuts.has(edge.name) ? `✂ ${edgeWords(edge)}` : `${edgeWords(edge)} ${share(edge.weight)}`));
}

function cutLine(side, sequence, answer, restore) {
  if (!side.cuts.size) {
    return h('p', { class: 'note hint' }, 'Click a line to cut it: the network then answers without it.');
  }
  const intact = highest(answerOf(side, sequence, new Set()).logits);
  const changed = intact === answer ? 'The answer stays the same.'
    : `Uncut, the network answers ${intact}.`;
  return h('p', { class: 'note cuts' }, `Cut: ${[...side.cuts].map(cutWords).join('; ')}. ${changed} `,
    h('button', { type: 'button', class: 'quiet', onclick: restore }, 'Restore all'));
}
