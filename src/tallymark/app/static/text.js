// The text of a file in pieces, so that no page waits for a large one.

const BLOCK = 1 << 14; // characters
const PATIENCE = 12; // milliseconds of work before the page has its turn
export const LONGEST_LINE = 1 << 24; // characters; a line without an end must not fill the memory

/** The text of a file, which must be asked for blocks one after the other. */
export class Text {
  constructor(file, signal) {
    this.decoder = new Decoder();
    this.reader = file.stream().getReader();
    this.signal = signal;
    this.held = "";
    this.at = 0;
    this.ended = false;
    this.rested = performance.now();
  }

  /** The next characters and the rest of their last line; empty at the end. */
  async block() {
    await this.rest();
    await this.fill(BLOCK * 2 + 2);
    let end = this.at + unitsOf(this.held, this.at, BLOCK);
    let searched = end;
    for (;;) {
      const found = lineEnd(this.held, searched, this.ended);
      if (found >= 0 || this.ended || this.held.length - end > LONGEST_LINE) {
        end = Math.min(found >= 0 ? found : this.held.length, end + LONGEST_LINE);
        break;
      }
      const known = this.held.length - this.at;
      const from = end - this.at;
      await this.fill(2 * known); // twice as much each time: a long line is not joined again and again
      end = this.at + from;
      searched = this.at + Math.max(known - 1, from);
    }
    const block = this.held.slice(this.at, end);
    this.at = end;
    return block;
  }

  /** Whether a quote follows, anywhere. */
  async hasQuote() {
    for (let block = await this.block(); block; block = await this.block()) if (block.includes('"')) return true;
    return false;
  }

  async fill(least) {
    const parts = [this.held.slice(this.at)];
    let length = parts[0].length;
    if (length >= least || this.ended) return;
    while (length < least && !this.ended) {
      const { done, value } = await this.reader.read();
      this.ended = done;
      const more = done ? this.decoder.finish() : this.decoder.take(value);
      parts.push(more);
      length += more.length;
    }
    this.held = parts.join("");
    this.at = 0;
  }

  async rest() {
    this.signal?.throwIfAborted();
    if (performance.now() - this.rested < PATIENCE) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.rested = performance.now();
  }

  /** Read no more. */
  close() {
    this.reader.cancel().catch(() => {});
  }
}

/** How many units of 16 bits so many characters take. */
function unitsOf(text, at, characters) {
  const most = Math.min(at + characters, text.length);
  if (!/[\ud800-\udbff]/.test(text.slice(at, most))) return most - at;
  let end = at;
  for (let k = 0; k < characters && end < text.length; k++) end += text.codePointAt(end) > 0xffff ? 2 : 1;
  return end - at;
}

const END = /\r\n?|\n/g;

/** Behind the next end of a line, or −1; a return at the end of what is held may have a newline behind it. */
function lineEnd(text, at, ended) {
  END.lastIndex = at;
  const found = END.exec(text);
  if (found === null || (found[0] === "\r" && END.lastIndex === text.length && !ended)) return -1;
  return END.lastIndex;
}

/** The lines of a text with their ends, and where each ends. */
export function* linesOf(block) {
  for (let at = 0; at < block.length; ) {
    END.lastIndex = at;
    const found = END.exec(block);
    const bodyEnd = found === null ? block.length : found.index;
    const end = found === null ? block.length : found.index + found[0].length;
    yield { body: block.slice(at, bodyEnd), ending: block.slice(bodyEnd, end), end };
    at = end;
  }
}

/** Bytes as text. One that is no UTF-8 comes as half a sign, U+DC80 to U+DCFF, so that it has a place. */
export class Decoder {
  constructor() {
    this.strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    this.rest = new Uint8Array(0);
    this.begun = false;
  }

  take(bytes) {
    const all = joined(this.rest, bytes);
    const whole = this.begun || all.length > 2 ? all.length - unfinished(all) : 0;
    this.rest = all.slice(whole);
    return this.decode(all.subarray(0, whole));
  }

  finish() {
    return this.decode(this.rest);
  }

  decode(bytes) {
    if (bytes.length === 0) return "";
    const marked = !this.begun && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    this.begun = true;
    const content = marked ? bytes.subarray(3) : bytes;
    try {
      return this.strict.decode(content);
    } catch {
      return withHalves(content);
    }
  }
}

function joined(one, other) {
  if (one.length === 0) return other;
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** How many bytes a sign takes, by its first. */
function lengthOfSign(byte) {
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

/** How many bytes at the end may belong to a sign that is not whole yet. */
function unfinished(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte >= 0xc0) return lengthOfSign(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

function withHalves(bytes) {
  const units = [];
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    const [sign, size] = signAt(bytes, at);
    if (sign > 0xffff) units.push(0xd800 + ((sign - 0x10000) >> 10), 0xdc00 + (sign & 0x3ff));
    else units.push(sign);
    at += size;
    if (units.length > 8000) parts.push(String.fromCharCode(...units.splice(0)));
  }
  return parts.join("") + String.fromCharCode(...units);
}

/** The sign that begins at a byte and how many bytes it takes. */
function signAt(bytes, at) {
  const byte = bytes[at];
  const size = lengthOfSign(byte);
  if (byte < 0x80) return [byte, 1];
  let sign = byte & (0xff >> (size + 1));
  for (let k = 1; k < size; k++) {
    if ((bytes[at + k] & 0xc0) !== 0x80) return [0xdc00 + byte, 1];
    sign = (sign << 6) | (bytes[at + k] & 0x3f);
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][size];
  const valid = size > 1 && byte < 0xf8 && sign >= least && sign <= 0x10ffff && (sign & ~0x7ff) !== 0xd800;
  return valid ? [sign, size] : [0xdc00 + byte, 1];
}
