// The data of the page: compressed, in base64. First the length of a JSON header, then the header, then typed arrays, each at a
// multiple of eight bytes. The header lists the arrays: name, kind, length.
const ARRAY_KINDS = { i1: Int8Array, i2: Int16Array, i4: Int32Array, f8: Float64Array };
const ALIGNED = 8;

async function decode(text) {
  const letters = atob(text), packed = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) packed[k] = letters.charCodeAt(k);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const size = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size)));
  let at = aligned(4 + size);
  const arrays = {};
  for (const [name, kind, length] of header.arrays) {
    arrays[name] = new ARRAY_KINDS[kind](bytes, at, length);
    at = aligned(at + arrays[name].byteLength);
  }
  return { header, arrays };
}

function aligned(offset) {
  return Math.ceil(offset / ALIGNED) * ALIGNED;
}

// Numbers as people read them, as in report/amounts.py.
function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = 100 * share;
  if (Math.abs(value) < 1e-9) return "0\u00a0%";
  if (Math.abs(value) < 0.05) return value > 0 ? "<\u00a00.1\u00a0%" : ">\u00a0-0.1\u00a0%";
  if (value !== 100 && Math.round(value) === 100) {
    return `${(value < 100 ? Math.min(value, 99.94) : Math.max(value, 100.06)).toFixed(1)}\u00a0%`;
  }
  return `${value.toFixed(Math.abs(value) < 9.95 ? 1 : 0)}\u00a0%`;
}

function signed(text, value) {
  return value > 0 ? `+${text}` : text;
}

function points(share) {  // a gain: +1.2 %
  if (Math.abs(share) < 5e-7) return "0";
  const value = 100 * share, digits = Math.abs(value) < 0.1 ? 3 : Math.abs(value) < 9.95 ? 1 : 0;
  return signed(`${value.toFixed(digits)}\u00a0%`, value);
}

function span(seconds) {
  if (seconds < 10 && seconds % 1) return `${seconds.toFixed(1)}\u00a0s`;
  const units = [["d", 86400, "h", 3600], ["h", 3600, "min", 60], ["min", 60, "s", 1]];
  const whole = Math.round(seconds), unit = units.find(([, size]) => whole >= size);
  if (!unit) return `${whole}\u00a0s`;
  const [large, size, small, part] = unit, rounded = Math.round(whole / part) * part;
  const rest = Math.floor((rounded % size) / part);
  return `${Math.floor(rounded / size)}\u00a0${large}` + (rest ? `\u00a0${rest}\u00a0${small}` : "");
}

function amount(value, resource) {  // '1.5Gi' of bytes, '500m' of cores
  const written = value / resource.scale;
  if (resource.unit === "bytes") {
    const power = Math.min(6, Math.max(0, Math.floor(Math.log2(Math.max(1, written)) / 10)));
    return trimmed(written / 1024 ** power) + ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power];
  }
  if (resource.scale === 1000 && written < 1) return `${value}m`;
  const power = Math.min(6, Math.max(0, Math.floor(Math.log10(Math.max(1, written)) / 3)));
  return trimmed(written / 1000 ** power) + ["", "k", "M", "G", "T", "P", "E"][power];
}

function trimmed(value) {
  return String(Number(value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)));
}

function counted(number, noun) {
  const plural = noun.endsWith("ch") ? `${noun}es` : `${noun}s`;
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}
