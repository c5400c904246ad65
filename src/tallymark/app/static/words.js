// Facts in the sentences of problems, written as the server writes them.

const NAMED = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };
const HIDDEN = /[\p{C}\p{Z}\\'"]/gu;

/** The first characters of a text. */
export function cut(text, most = 40) {
  return [...text.slice(0, 2 * most)].slice(0, most).join("");
}

/** A text in quotes, with escapes for what cannot be seen. */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escape = (sign) => {
    if (sign === " ") return sign;
    if (sign === "'" || sign === '"') return sign === mark ? `\\${sign}` : sign;
    const code = sign.codePointAt(0);
    const digits = code.toString(16);
    return NAMED[sign] ?? (code < 0x100 ? `\\x${digits.padStart(2, "0")}` : longEscape(code, digits));
  };
  return mark + text.replace(HIDDEN, escape) + mark;
}

function longEscape(code, digits) {
  return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}

/** A count with commas between thousands, whatever the language of the browser. */
export function counted(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number with at most six digits. */
export function short(value) {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 ? "-" : "";
  const size = Math.abs(value);
  if (size === Infinity) return `${sign}inf`;
  const [digits, power] = sixDigits(size);
  if (power >= -4 && power < 6) return sign + trimmed(Number(`${digits}e${power}`).toFixed(5 - power));
  const exponent = String(Math.abs(power)).padStart(2, "0");
  return `${sign}${trimmed(digits)}e${power < 0 ? "-" : "+"}${exponent}`;
}

/** Six digits and the power of ten; a number halfway between two goes to the even one, where JavaScript goes up. */
function sixDigits(size) {
  const [digits, power] = size.toExponential(5).split("e");
  const [exact] = size.toExponential(100).split("e");
  const halfway = /^5(0*)$/.test(exact.slice(7));
  const odd = Number(digits.at(-1)) % 2 === 1;
  return halfway && odd ? [exact.slice(0, 7), Number(power)] : [digits, Number(power)];
}

function trimmed(digits) {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}

/** Whether a character, by its code, is a blank to the server: JavaScript's own `trim` knows others. */
function isBlank(code) {
  if (code < 0x80) return code === 32 || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  if (code === 0x85 || code === 0xa0 || code === 0x1680 || (code >= 0x2000 && code <= 0x200a)) return true;
  return code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f || code === 0x3000;
}

const PLAIN = /^[!-~]*$/;

/** A text in normal form C without blanks around it. */
export function normal(text) {
  if (PLAIN.test(text)) return text;
  return strip(text.normalize("NFC"), isBlank);
}

/** A text without the characters around it for whose codes something holds. */
export function strip(text, holds) {
  let start = 0;
  let end = text.length;
  while (start < end && holds(text.charCodeAt(start))) start++;
  while (end > start && holds(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** How many characters a text has, or how many its beginning has; those beyond 16 bits are one each. */
export function lengthOf(text, end = text.length) {
  let count = end;
  for (let at = 0; at < end; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) count--;
  return count;
}
