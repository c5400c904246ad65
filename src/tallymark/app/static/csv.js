// CSV read with care: every field with its line and column, and every breach of the rules of quotes and characters.
// Where something is wrong, the row goes on behind it, so that one look finds all that is wrong.

import { LONGEST_LINE, Text, linesOf } from "./text.js";
import { counted, lengthOf } from "./words.js";

const LONGEST_PLAIN = 1 << 16;
const ODD = /[\0\udc80-\udcff]/u;
const NEVER_CLOSED = "these quotes are never closed";

/**
 * The rows of a file in pieces, blank lines as rows without fields: {rows, line(k), columns(k), record}.
 *
 * What is wrong with the text is added to `found`. `sizes` are how many `fields` are read of a row and how many
 * `characters` in quotes.
 */
export async function* scan(file, separator, found, sizes, signal) {
  const text = new Text(file, signal);
  let row = new Row();
  let number = 1;
  try {
    for (let block = await text.block(); block; block = await text.block()) {
      if (found.enough()) return;
      const plain = row.open ? null : plainPiece(block, number, separator);
      if (plain !== null) {
        yield plain;
        number += plain.rows.length;
        continue;
      }
      for (const line of linesOf(block)) {
        if (take(row, line, number, separator, found, sizes.fields)) {
          yield row.piece();
          row = new Row();
        } else if (row.length > sizes.characters) {
          leave(row, block.includes('"', line.end) || (await text.hasQuote()), found, sizes);
        }
        if (found.enough()) return;
        number++;
      }
    }
    if (row.open) {
      found.note("bad_quote", row.last, { what: NEVER_CLOSED });
      yield row.piece();
    }
  } finally {
    text.close();
  }
}

/** The fields of the first row that is not blank; none where there is none. */
export async function firstFields(file, separator, found, sizes, signal) {
  for await (const { rows } of scan(file, separator, found, sizes, signal)) {
    const first = rows.find((row) => row.length);
    if (first !== undefined) return first;
  }
  return [];
}

/** Lines of which each is a row, with nothing odd in them; null where that is not so. */
function plainPiece(block, number, separator) {
  if (ODD.test(block)) return null;
  const lines = block.split(/\r\n?|\n/);
  if (lines.at(-1) === "") lines.pop();
  const rows = [];
  for (const line of lines) {
    const fields = line.length > LONGEST_PLAIN ? null : plainFields(line, separator);
    if (fields === null) return null;
    rows.push(fields);
  }
  const columns = (k) => {
    const row = new Row();
    takeFields(row, lines[k], "", number + k, separator, null, Infinity);
    return row.columns;
  };
  return { rows, line: (k) => number + k, columns, record: false };
}

/** The fields of a line that is a row for itself; null where its quotes are not in their places. */
function plainFields(line, separator) {
  if (line === "") return [];
  if (!line.includes('"')) return line.split(separator);
  const fields = [];
  for (let at = 0; ; ) {
    const inQuotes = line[at] === '"';
    const close = inQuotes ? closing(line, at + 1) : -1;
    const end = inQuotes ? close + 1 : endOfField(line, at, separator);
    if (end < line.length && line[end] !== separator) return null;
    if (inQuotes && close === line.length) return null;
    const text = inQuotes ? line.slice(at + 1, close).replaceAll('""', '"') : line.slice(at, end);
    if (!inQuotes && text.includes('"')) return null;
    fields.push(text);
    if (end >= line.length) return fields;
    at = end + 1;
  }
}

function endOfField(line, at, separator) {
  const end = line.indexOf(separator, at);
  return end < 0 ? line.length : end;
}

/** Where the quote stands that closes a field, doubled ones left aside; the end of the line where there is none. */
function closing(line, at) {
  for (;;) {
    const quote = line.indexOf('"', at);
    if (quote < 0) return line.length;
    if (line[quote + 1] !== '"') return quote;
    at = quote + 2;
  }
}

/** A row that is being read; `open` while the text stands between quotes, `length` characters of it so far. */
class Row {
  constructor() {
    this.fields = [];
    this.lines = [];
    this.columns = [];
    this.parts = [];
    this.open = false;
    this.length = 0;
  }

  begin(line, column) {
    this.lines.push(line);
    this.columns.push(column);
    this.length = 0;
  }

  add(text) {
    this.parts.push(text);
    this.length += lengthOf(text);
  }

  end(text) {
    this.fields.push(this.parts.join("") + text);
    this.parts = [];
  }

  get last() {
    return { line: this.lines.at(-1), column: this.columns.at(-1) };
  }

  piece() {
    if (this.fields.length < this.lines.length) this.end("");
    return { rows: [this.fields], line: () => this.lines[0], columns: () => this.columns, record: true };
  }
}

/** Take a line; whether a row ends with it. */
function take(row, { body, ending }, number, separator, found, most) {
  checkCharacters(body, number, found);
  const length = body.length < LONGEST_LINE / 2 ? 0 : lengthOf(body) + ending.length;
  if (length >= LONGEST_LINE) {
    const facts = { count: `${counted(length)} or more`, most: counted(LONGEST_LINE) };
    found.note("field_too_long", { line: number, column: 1 }, facts);
    found.stopped = true;
    return false;
  }
  return (body !== "" || row.open) && takeFields(row, body, ending, number, separator, found, most);
}

function takeFields(row, body, ending, number, separator, found, most) {
  const columnAt = columnsOf(body);
  for (let at = 0; ; ) {
    if (!row.open) {
      row.begin(number, columnAt(at));
      if (row.lines.length > most) {
        row.end(""); // nobody reads what follows
        return true;
      }
      if (body[at] !== '"') {
        const end = endOfField(body, at, separator);
        const text = body.slice(at, end);
        const quote = text.indexOf('"');
        const what = "a quote stands in a field without quotes around it";
        if (quote >= 0) found?.note("bad_quote", { line: number, column: columnAt(at + quote) }, { what });
        row.end(text);
        if (end === body.length) return true;
        at = end + 1;
        continue;
      }
      row.open = true;
      at++;
    }
    const close = closing(body, at);
    row.add(body.slice(at, close).replaceAll('""', '"'));
    if (close === body.length) {
      row.add(ending);
      return false;
    }
    row.open = false;
    const end = endOfField(body, close + 1, separator);
    const behind = body.slice(close + 1, end);
    const what = "text follows closing quotes";
    if (behind) found?.note("bad_quote", { line: number, column: columnAt(close + 1) }, { what });
    row.end(behind);
    if (end === body.length) return true;
    at = end + 1;
  }
}

/** Turns places in a line, asked for from left to right, into columns, which count characters from 1. */
function columnsOf(line) {
  if (!/[\ud800-\udbff]/.test(line)) return (at) => at + 1;
  let known = 0;
  let pairs = 0;
  return (at) => {
    for (; known < at; known++) if ((line.charCodeAt(known) & 0xfc00) === 0xd800) pairs++;
    return at - pairs + 1;
  };
}

/** Read no further in quotes that hold more than a field may; `closed` where a quote follows. */
function leave(row, closed, found, sizes) {
  const facts = { count: `${counted(row.length)} or more`, most: counted(sizes.characters) };
  if (closed) found.note("field_too_long", row.last, facts);
  else found.note("bad_quote", row.last, { what: NEVER_CLOSED });
  found.stopped = true;
}

function checkCharacters(line, number, found) {
  if (!ODD.test(line)) return;
  const columnAt = columnsOf(line);
  for (const { 0: sign, index } of line.matchAll(new RegExp(ODD, "gu"))) {
    const place = { line: number, column: columnAt(index) };
    if (sign === "\0") found.note("nul_byte", place);
    else found.note("not_utf8", place, { byte: (sign.charCodeAt(0) & 0xff).toString(16).toUpperCase() });
  }
}
