// The forward pass of anchorjax/models/transformer.py for one sequence: logits at the
// last position, and the attention and activations of every layer.

const isPreNorm = ({ norm }) => norm === 'pre' || norm === 'pre_query';

// network: { model, weights }, with the weights of decodeWeights.
// isCut(layer, source, target): whether target may not read source (positions from 0).
function runNetwork(network, tokens, isCut = () => false) {
  const { model } = network;
  const embedded = embedTokens(network, tokens);
  const layers = [];
  let stream = embedded;
  for (let layer = 0; layer < model.depth; layer += 1) {
    const block = runBlock(network, layer, stream, isCut);
    layers.push(block);
    stream = block.X_do;
  }
  // What the network would answer if it stopped after each layer (the logit lens).
  const streams = [embedded, ...layers.map((block) => block.X_do)];
  const lens = streams.map((X) => readLogits(network, X));
  return { X_em: embedded, layers, lens, logits: lens.at(-1) };
}

function embedTokens({ weights }, tokens) {
  const W_embed = weights.get('W_embed');
  const W_pos = weights.get('W_pos');
  const width = W_embed.shape[1];
  const X = new Float64Array(tokens.length * width);
  tokens.forEach((token, t) => {
    for (let i = 0; i < width; i += 1) {
      X[t * width + i] = W_embed.data[token * width + i] + W_pos.data[t * width + i];
    }
  });
  return X;
}

// The logits at the last position of a stream.
function readLogits({ model, weights }, X) {
  const W_U = weights.get('W_U');
  let last = X.subarray(X.length - W_U.shape[0]);
  if (isPreNorm(model)) last = normalizeRows(last, layerNorm(weights, 'LN_final'), model.eps);
  return multiply(last, W_U, weights.get('b_U'));
}

const layerNorm = (weights, path) => ({
  scale: weights.get(`${path}/scale`), bias: weights.get(`${path}/bias`),
});

// As class Block: attention, then an MLP, each with a residual.
function runBlock({ model, weights }, layer, x, isCut) {
  const path = `block_${layer}`;
  const project = (name, input) =>
    multiply(input, weights.get(`${path}/W_${name}`), weights.get(`${path}/b_${name}`));
  const norm = (name, input) =>
    normalizeRows(input, layerNorm(weights, `${path}/${name}`), model.eps);
  const query = isPreNorm(model) ? norm('LN_attn', x) : x;
  const source = model.norm === 'pre' ? query : x;
  const [Q, K, V] = [project('Q', query), project('K', source), project('V', source)];
  const width = weights.get(`${path}/W_V`).shape[1];
  const Attn = attend(Q, K, width, model.heads, (k, j) => isCut(layer, k, j));
  const X_qkv = mixValues(Attn, V, width);
  let X_ao = addArrays(x, project('O', X_qkv));
  if (model.norm === 'post') X_ao = norm('LN_attn', X_ao);
  const input = project('in', isPreNorm(model) ? norm('LN_mlp', X_ao) : X_ao);
  const hidden = input.map(ACTIVATIONS[model.activation]);
  let X_do = addArrays(X_ao, project('out', hidden));
  if (model.norm === 'post') X_do = norm('LN_mlp', X_do);
  return { Q, K, V, Attn, X_qkv, X_ao, hidden, X_do };
}

// Attn[head][target][source]: softmax(Q K^T / sqrt(d_k)) over the past and itself.
function attend(Q, K, width, heads, isCut) {
  const length = Q.length / width;
  const size = width / heads;
  const at = (X, t, head) => X.subarray(t * width + head * size, t * width + (head + 1) * size);
  return Array.from({ length: heads }, (_, head) =>
    Array.from({ length }, (_, target) => {
      const q = at(Q, target, head);
      const scores = Array.from({ length: target + 1 }, (_, source) =>
        dot(q, at(K, source, head)) / Math.sqrt(size));
      const row = new Float64Array(length);
      row.set(cutRow(softmax(scores), target, isCut));
      return row;
    }));
}

function dot(x, y) {
  let total = 0;
  for (let i = 0; i < x.length; i += 1) total += x[i] * y[i];
  return total;
}

// Knock-out as in analysis/circuits/interventions.py: the weights that are left sum to
// one again, and a position can always read itself.
function cutRow(row, target, isCut) {
  const kept = row.map((weight, source) =>
    (source !== target && isCut(source, target) ? 0 : weight));
  const total = Math.max(kept.reduce((a, b) => a + b, 0), 1e-30);
  return kept.map((weight) => weight / total);
}

// Attn V, heads side by side.
function mixValues(Attn, V, width) {
  const size = width / Attn.length;
  const out = new Float64Array(V.length);
  Attn.forEach((rows, head) => rows.forEach((row, target) => row.forEach((weight, source) => {
    for (let i = head * size; i < (head + 1) * size; i += 1) {
      out[target * width + i] += weight * V[source * width + i];
    }
  })));
  return out;
}

// Mean over heads, [target][source], as the figures show it.
function meanAttention({ Attn }) {
  return Attn[0].map((row, target) => Array.from(row, (_, source) =>
    Attn.reduce((total, rows) => total + rows[target][source], 0) / Attn.length));
}
