// A file looked at before it is sent, by the rules of the server and in its words. What needs the answers, such as
// whether an id is known, only the server can say.

import { firstFields, scan } from "./csv.js";
import { Entries } from "./entries.js";
import { Found } from "./problems.js";
import { beginsWell } from "./start.js";
import { LONGEST_LINE } from "./text.js";
import { counted, cut, normal, quoted } from "./words.js";

const BEYOND = 1 << 16; // rows too many that are still looked at: where their text is wrong, more is told
const SEPARATORS = [",", ";", "\t"];
const LIKELY = { ";": "';'", "\t": "tab", "|": "'|'", ",": "','" };

/**
 * What is wrong with a file: {problems, total, stopped, rows, later}.
 *
 * The first problems come in the order of the file, all are counted; `stopped` where the file was not read to its end.
 * `later` says that the file is of a kind that is only looked at when it arrives. `settings` are those of the page.
 */
export async function checkFile(file, settings, { signal } = {}) {
  const { limits, rules } = settings;
  const found = new Found(rules);
  if (limits.bytes !== null && file.size > limits.bytes) {
    found.note("too_large", {}, { size: counted(file.size), most: counted(limits.bytes) });
    return told(found);
  }
  const start = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  const form = formOf(start, settings);
  if (form.later) return { ...told(found), later: true };
  if (form.what) found.note("unreadable", {}, { what: form.what });
  if (form.what) return told(found);
  const header = await readHeader(file, settings, signal);
  if (header.names.length === 0) {
    if (header.found.total) return told(header.found);
    found.note("empty_file", {}, { form: "CSV" });
    return told(found);
  }
  return readRows(file, settings, header, signal);
}

function told(found, rows = 0) {
  return { problems: found.shown(), total: found.total, stopped: found.stopped, rows, later: false };
}

/** Whether a file that begins so is looked at later, and what it is where it cannot be read at all. */
function formOf(start, { forms }) {
  const digits = Array.from(start, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (/^(fffe|feff)/.test(digits)) return { what: "the file must be UTF-8 text; it is UTF-16. Save it as UTF-8" };
  const foreign = Object.keys(forms.foreign).find((magic) => digits.startsWith(magic));
  if (foreign) return { what: `the file must be CSV or Parquet; it is ${forms.foreign[foreign]}` };
  return { later: forms.later.some((magic) => digits.startsWith(magic)) };
}

function sizesOf({ columns, field_length }) {
  return { fields: columns ?? Infinity, characters: field_length ?? Infinity };
}

/** The names of the columns, what stands between them, whether there may be more, and what was found on the way. */
async function readHeader(file, settings, signal) {
  const { limits, rules } = settings;
  const read = async (separator, sizes = sizesOf(limits), found = new Found(rules)) =>
    (await firstFields(file, separator, found, sizes, signal)).map(normal);
  const declared = settings.separator ?? null;
  const found = new Found(rules);
  let separator = declared ?? ",";
  let names = await read(separator, sizesOf(limits), found);
  let isCut = false;
  if (names.length === 0 || names.length > sizesOf(limits).fields) {
    isCut = !(await beginsWell(file, separator));
    if (!isCut) names = await read(separator, { fields: Infinity, characters: LONGEST_LINE });
  }
  if (declared === null && names.length && !hasAll(names, settings)) {
    const fitting = [];
    for (const mark of SEPARATORS.filter((each) => each !== separator)) {
      const others = await read(mark);
      if (hasAll(others, settings)) fitting.push([mark, others]);
    }
    if (fitting.length === 1) [[separator, names]] = fitting;
  }
  return { names, separator, isCut, found };
}

/** The columns that are wanted, as text or as number; probabilities stand in one, or in one for each class. */
function wantedOf(names, { task, id, label, classes }) {
  if (task === "labels") return new Map([id, label].map((name) => [name, "text"]));
  const one = task !== "probabilities" || names.includes(label) || !classes?.length;
  return new Map([[id, "text"], ...(one ? [label] : classes).map((name) => [name, "number"])]);
}

function hasAll(names, settings) {
  const held = new Set(names);
  return [...wantedOf(names, settings).keys()].every((name) => held.has(name));
}

function checkHeader({ names, separator, isCut }, wanted, { limits, rules }) {
  const found = new Found(rules);
  if (limits.columns !== null && names.length > limits.columns) {
    const facts = { count: counted(names.length) + (isCut ? " or more" : ""), most: counted(limits.columns) };
    found.note("too_many_columns", { line: 1 }, facts);
  }
  const times = new Map();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  for (const name of wanted.keys()) {
    const count = times.get(name) ?? 0;
    const facts = { column: quoted(name), count, found: count ? "" : listed(names, separator) };
    if (count !== 1) found.note(count ? "repeated_column" : "missing_column", { line: 1 }, facts);
  }
  return found;
}

function listed(names, separator) {
  const shown = names.slice(0, 20).map((name) => quoted(cut(name)));
  const all = shown.join(", ") + (names.length > 20 ? ", …" : "");
  const marks = names.length === 1 ? Object.keys(LIKELY) : [];
  const likely = marks.find((mark) => names[0].includes(mark) && mark !== separator);
  return likely ? `${all}; where ${LIKELY[likely]} stands between fields, declare it as the \`separator\`` : all;
}

async function readRows(file, settings, header, signal) {
  const { limits, rules } = settings;
  const wanted = wantedOf(header.names, settings);
  const found = checkHeader(header, wanted, settings);
  if (header.names.length > sizesOf(limits).fields) return told(found);
  const pieces = (text, sizes) => fittingRows(file, header.separator, text, sizes, signal);
  if (found.total) {
    const text = new Found(rules);
    const rows = await readAll(pieces(text, sizesOf(limits)), text, limits, null);
    return told(found.join(text), rows);
  }
  const made = () => new Entries(settings, wanted, header.names);
  return (await readWell(pieces, settings, made())) ?? readBroken(pieces, settings, made());
}

/** What is wrong with a file whose text and numbers are well formed, quotes being as long as they like; else null. */
async function readWell(pieces, { limits, rules }, entries) {
  const text = new Found(rules);
  const most = limits.rows ?? Infinity;
  let rows = 0;
  for await (const { fitting, starts } of pieces(text, { ...sizesOf(limits), characters: LONGEST_LINE })) {
    if (text.total || rows > most + BEYOND) break;
    if (rows <= most) takeAll(entries, fitting, starts);
    rows += fitting.length;
  }
  if (text.total) return null;
  if (rows > most) {
    text.note("too_many_rows", {}, { most: counted(most) });
    return told(text);
  }
  const found = entries.faults().join(entries.look());
  return found.total && rows && entries.numbers.length ? null : told(found, rows);
}

/** All that is wrong with a file whose text is not well formed. */
async function readBroken(pieces, { limits, rules }, entries) {
  const text = new Found(rules);
  const rows = await readAll(pieces(text, sizesOf(limits)), text, limits, entries);
  const found = text.join(entries.faults());
  return told(found.total && !rows ? found : found.join(entries.look()), rows);
}

/** Read to the end, or until there are too many rows; how many they were. */
async function readAll(pieces, text, limits, entries) {
  let rows = 0;
  for await (const { fitting, starts } of pieces) {
    rows += fitting.length;
    if (entries) takeAll(entries, fitting, starts);
    if (rows > (limits.rows ?? Infinity)) {
      text.note("too_many_rows", {}, { most: counted(limits.rows) });
      text.stopped = true;
      break;
    }
  }
  return rows;
}

function takeAll(entries, fitting, starts) {
  for (const { fields, line, k } of fitting) entries.take(fields, line, () => starts(k));
}

/** The rows below the header that have as many fields as it, some at a time; others are noted. */
async function* fittingRows(file, separator, found, sizes, signal) {
  let width = -1;
  for await (const piece of scan(file, separator, found, sizes, signal)) {
    const fitting = [];
    piece.rows.forEach((fields, k) => {
      if (fields.length === 0) return;
      if (width < 0) width = fields.length;
      else if (fields.length !== width) noteRagged(found, piece.line(k), fields.length, width, sizes.fields);
      else fitting.push({ fields: piece.record ? fields.map(clean) : fields, line: piece.line(k), k });
    });
    if (fitting.length) yield { fitting, starts: piece.columns };
  }
}

function noteRagged(found, line, count, width, most) {
  const more = count > most ? " or more" : "";
  const told = `${counted(Math.min(count, most + 1))}${more} field${count === 1 ? "" : "s"}`;
  found.note("ragged_row", { line, column: 1 }, { count: told, expected: counted(width) });
}

/** A text without bytes that are no UTF-8, which are noted. */
function clean(text) {
  return text.replace(/[\udc80-\udcff]/gu, "?");
}
