// The beginning of a file as the fast reader of the server looks at it: block by block, until the header ends.

const BLOCK = 1 << 16;
const LONGEST_HEADER = 1 << 20;
const LONGEST_NAME = 1 << 17;
const [QUOTE, NEWLINE, RETURN] = ['"', "\n", "\r"].map((sign) => sign.charCodeAt(0));

/** Whether nothing is wrong in the blocks that hold the header, so that all its fields are counted. */
export async function beginsWell(file, separator) {
  for (let size = BLOCK; ; size += BLOCK) {
    const bytes = new Uint8Array(await file.slice(0, size).arrayBuffer());
    const last = size >= file.size;
    const end = endOfHeader(bytes);
    if (end < 0 && !last && size <= LONGEST_HEADER) continue;
    const whole = end < 0; // else the end of the file is not looked at
    if (whole && !last) return false;
    return isText(bytes, whole) && hasQuotesInPlace(bytes, separator, whole) && isShort(bytes, separator, end);
  }
}

function endOfHeader(bytes) {
  let inside = false;
  let begun = false;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) inside = !inside;
    const ends = bytes[at] === NEWLINE || bytes[at] === RETURN;
    if (ends && begun && !inside) return at;
    begun ||= !ends;
  }
  return -1;
}

function isText(bytes, whole) {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !whole });
    return true;
  } catch {
    return false;
  }
}

/** Whether every quote opens a field, closes one or is doubled. */
function hasQuotesInPlace(bytes, separator, whole) {
  const around = new Set([separator.charCodeAt(0), QUOTE, NEWLINE, RETURN, undefined]);
  let opening = true;
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    const beside = opening ? bytes[at - 1] : bytes[at + 1];
    const behindMark = at === 3 && opening && beside === 0xbf;
    if (!around.has(beside) && !behindMark) return false;
    opening = !opening;
  }
  return opening || !whole;
}

function isShort(bytes, separator, end) {
  const header = bytes.subarray(0, end < 0 ? bytes.length : end);
  const mark = separator.charCodeAt(0);
  for (let at = 0; at < header.length; ) {
    const next = header.indexOf(mark, at);
    if ((next < 0 ? header.length : next) - at > LONGEST_NAME) return false;
    if (next < 0) return true;
    at = next + 1;
  }
  return true;
}
