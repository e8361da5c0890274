// The weights of a network: from base64 to arrays of numbers, when it is first asked.

const WEIGHT_BYTES = { float16: 2, float32: 4 };

// The number that 16 bits stand for: a sign, 5 bits of exponent, 10 bits of fraction.
function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// A DataView reads little-endian numbers on any machine.
function numbersOf(bytes, dtype) {
  const view = new DataView(bytes.buffer);
  const size = WEIGHT_BYTES[dtype];
  const numbers = new Float32Array(bytes.length / size);
  for (let i = 0; i < numbers.length; i += 1) {
    numbers[i] = dtype === 'float16'
      ? halfToNumber(view.getUint16(i * size, true))
      : view.getFloat32(i * size, true);
  }
  return numbers;
}

// Map: 'block_0/W_Q' -> { data, shape }, as the parameters are called in Python.
function decodeWeights({ dtype, arrays, weights }) {
  const numbers = numbersOf(bytesOf(weights), dtype);
  const decoded = new Map();
  let start = 0;
  for (const [path, shape] of arrays) {
    const size = shape.reduce((product, length) => product * length, 1);
    decoded.set(path, { data: numbers.subarray(start, start + size), shape });
    start += size;
  }
  return decoded;
}
