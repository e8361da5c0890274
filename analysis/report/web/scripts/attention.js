// Attention flow (P1 Fig 3): a row of tokens per layer; the line width is the attention.

const FLOW = { width: 360, left: 46, right: 16, top: 34, bottom: 24, gap: 64, least: 0.02 };
const ROLE_NAMES = {
  key: 'key', anchor_1: 'first anchor', anchor_2: 'second anchor', last: 'last token',
  noise: 'noise',
};
const known = (role) => Object.hasOwn(ROLE_NAMES, role);
const roleName = (role) => (known(role) ? ROLE_NAMES[role] : String(role));
const roleClass = (role) => `role-${known(role) ? role : 'noise'}`;

// The figure in words: what the last token attends to most, layer by layer.
function flowSentence({ layers, roles, tokens }) {
  const last = tokens.length - 1;
  return layers.map((layer, n) => {
    const row = (layer[last] ?? []).map((v) => (isNumber(v) ? v : 0));
    const k = row.indexOf(Math.max(...row));
    const most = `the ${roleName(roles[k])} ${tokens[k]} (${share(row[k])})`;
    return `in layer ${n + 1} the last token attends most to ${most}`;
  }).join('; ');
}

function answerText({ prediction, expected }) {
  // 'assigned' repeats one of the other mappings.
  const named = Object.keys(expected ?? {}).filter((m) => m !== 'assigned');
  const agrees = named.filter((m) => expected[m] === prediction);
  return agrees.length ? `${prediction} (${agrees.join(', ')})` : `${prediction} (neither solution)`;
}

function flowLine({ n, j, k, weight }, { roles, tokens }, x, y) {
  const reads = `position ${j + 1} (${tokens[j]}) attends to position ${k + 1}`;
  const what = `${roleName(roles[k])} ${tokens[k]}`;
  return s('line', {
    x1: fixed(x(k)), y1: y(n), x2: fixed(x(j)), y2: y(n + 1),
    'stroke-width': fixed(Math.max(0.4, 6 * weight)), class: `flow ${roleClass(roles[k])}`,
  }, s('title', {}, `layer ${n + 1}: ${reads} (${what}): ${share(weight)}`));
}

function flowLines(flow, x, y) {
  const all = flow.layers.flatMap((layer, n) => layer.flatMap((row, j) =>
    (row ?? []).map((weight, k) => ({ n, j, k, weight, noise: flow.roles[k] === 'noise' }))));
  // Noise is drawn first, then wide lines before thin ones, so that no thin line is hidden.
  return all.filter(({ j, k, weight }) => k <= j && isNumber(weight) && weight >= FLOW.least)
    .sort((a, b) => b.noise - a.noise || b.weight - a.weight)
    .map((one) => flowLine(one, flow, x, y));
}

function flowNodes({ roles, tokens, layers }, x, y) {
  const rows = Array.from({ length: layers.length + 1 }, (_, n) => n);
  return [
    rows.flatMap((n) => tokens.map((_, t) =>
      s('circle', { cx: fixed(x(t)), cy: y(n), r: 4.5, class: `node ${roleClass(roles[t])}` }))),
    tokens.map((token, t) => label(x(t), y(0) + 20, String(token), 'middle',
      roles[t] === 'noise' ? '' : 'strong')),
    rows.map((n) => label(0, y(n) + 3.5, n ? `layer ${n}` : 'input', 'start')),
  ].flat();
}

// Where a token stands, and a layer: the input is at the bottom.
function flowScales({ tokens, layers }) {
  const height = FLOW.top + FLOW.gap * layers.length + FLOW.bottom;
  const x = linear(0, tokens.length - 1, FLOW.left + 14, FLOW.width - FLOW.right);
  const y = (n) => height - FLOW.bottom - n * FLOW.gap;
  return { height, x, y };
}

function attentionPanel(member) {
  const flow = member.attention;
  if (!flow?.layers?.length) return absent('Attention flow', 'Not recorded for this member.');
  const { tokens, layers } = flow;
  const { height, x, y } = flowScales(flow);
  const right = FLOW.width - FLOW.right;
  const said = `Answers ${answerText(flow)}`;
  const text = `Attention on the tokens ${tokens.join(', ')}: ${flowSentence(flow)}. ${said}.`;
  const svg = drawing(FLOW.width, height, text,
    flowLines(flow, x, y), flowNodes(flow, x, y),
    label(right + 6, y(layers.length) - 15, said, 'end', 'strong'));
  const roles = [...new Set(flow.roles)];
  const legend = roles.map((role) => h('li', {}, swatch(roleClass(role)), roleName(role)));
  return panel('Attention flow', 'line width: share of attention', svg,
    h('ul', { class: 'lines' }, legend),
    copyButton('Copy numbers', () => attentionTable(flow)));
}

function attentionTable({ layers, tokens }) {
  const rows = layers.flatMap((layer, n) => layer.map((row, j) =>
    [`layer ${n + 1}`, `position ${j + 1}`, ...row]));
  return toTable([['', 'token', ...tokens], ...rows]);
}
