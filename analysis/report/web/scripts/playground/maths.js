// What a forward pass is made of. A matrix of activations is a flat array, row by row.
// Everything is computed in double precision, so that it differs from JAX's float32
// by JAX's rounding alone.

// x [rows, d_in] times W [d_in, d_out], plus a bias [d_out] or nothing.
function multiply(x, { data: W, shape }, b) {
  const [inner, columns] = shape;
  const rows = x.length / inner;
  const out = new Float64Array(rows * columns);
  for (let t = 0; t < rows; t += 1) {
    if (b) out.set(b.data, t * columns);
    const to = t * columns;
    for (let i = 0; i < inner; i += 1) {
      const value = x[t * inner + i];
      if (value === 0) continue; // half of the neurons after a ReLU
      const from = i * columns;
      for (let j = 0; j < columns; j += 1) out[to + j] += value * W[from + j];
    }
  }
  return out;
}

function addArrays(x, y) {
  return x.map((value, i) => value + y[i]);
}

// (x - mean) / sqrt(variance + eps) * scale + bias, for every row.
function normalizeRows(x, { scale, bias }, eps) {
  const width = scale.data.length;
  const out = new Float64Array(x.length);
  for (let from = 0; from < x.length; from += width) {
    let total = 0;
    for (let i = 0; i < width; i += 1) total += x[from + i];
    const average = total / width;
    let squares = 0;
    for (let i = 0; i < width; i += 1) squares += (x[from + i] - average) ** 2;
    const size = Math.sqrt(squares / width + eps);
    for (let i = 0; i < width; i += 1) {
      out[from + i] = ((x[from + i] - average) / size) * scale.data[i] + bias.data[i];
    }
  }
  return out;
}

function softmax(scores) {
  const highest = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const weights = Float64Array.from(scores, (score) => Math.exp(score - highest));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

// The error function by its series without alternating signs, which loses no digits:
// erf(x) = 2 / sqrt(pi) * exp(-x^2) * sum of x (2 x^2)^n / (1 * 3 * ... * (2 n + 1)).
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x); // equal in double precision
  let term = x;
  let total = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(total); n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    total += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
}

const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  tanh: Math.tanh,
  identity: (x) => x,
};
