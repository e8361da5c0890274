// The weights of a network: from base64 to arrays of numbers, when it is first asked.

// Map: 'block_0/W_Q' -> { data, shape }, as the parameters are called in Python.
function decodeWeights({ arrays, weights }) {
  const bytes = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
  const numbers = new Float32Array(bytes.buffer);
  const decoded = new Map();
  let start = 0;
  for (const [path, shape] of arrays) {
    const size = shape.reduce((product, length) => product * length, 1);
    decoded.set(path, { data: numbers.subarray(start, start + size), shape });
    start += size;
  }
  return decoded;
}
