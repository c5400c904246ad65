// What is wrong with ids, labels and numbers, row by row, with no more kept of a row than its id.

import { Found } from "./problems.js";
import { counted, cut, lengthOf, normal, quoted, short, strip } from "./words.js";

const SUM = 1e-4; // how far the probabilities of a row may be from adding up to 1
const MOST_LINES = 50; // of an id that stands in several
const MOST_FAULTS = 10_000;
const NUMBER = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)$/i;

/** The columns that are wanted, each with its place in the header, as they are read. */
export class Entries {
  constructor(settings, wanted, names) {
    const { rules, limits } = settings;
    const made = [...wanted].map(([name, way]) => {
      const kind = name === settings.id ? Ids : way === "text" ? Labels : Numbers;
      return new kind(name, names.indexOf(name), rules, limits, settings.task);
    });
    this.columns = made;
    this.numbers = made.filter((each) => each instanceof Numbers);
    this.rules = rules;
    this.rows = 0;
    this.sums = settings.task === "probabilities" && made.length > 2 ? new Found(rules) : null;
  }

  /** Take a row. `starts` gives the columns in which its fields begin, for the few rows that need them. */
  take(fields, line, starts) {
    const row = this.rows++;
    for (const column of this.columns) {
      const place = (more) => ({ line, column: starts()[column.at], row, field: column.name, ...more });
      column.take(fields[column.at], line, place);
    }
    if (this.sums !== null) this.checkSum(line, row);
  }

  checkSum(line, row) {
    const sum = this.numbers.reduce((before, each) => before + each.value, 0);
    if (Math.abs(sum - 1) > SUM) this.sums.noteLater("bad_sum", () => [{ line, row }, { sum: short(sum) }]);
  }

  /** Fields that are no numbers, column by column. */
  faults() {
    const found = new Found(this.rules);
    for (const { faults } of this.numbers) found.addAll(faults);
    if (found.total >= MOST_FAULTS) {
      found.total = MOST_FAULTS;
      found.stopped = true;
    }
    return found;
  }

  /** All else that is wrong with the rows. */
  look() {
    const long = new Found(this.rules);
    if (this.rows === 0) {
      long.note("empty_file", {}, { form: "CSV" });
      return long;
    }
    for (const column of this.columns) column.tellLength?.(long);
    const found = this.columns.map((column) => column.tell()).reduce((before, each) => before.join(each));
    return long.join(found.total === 0 && this.sums !== null ? this.sums : found);
  }
}

/** A column of texts: none may be empty or too long. */
class Texts {
  constructor(name, at, rules, limits) {
    this.name = name;
    this.at = at;
    this.limits = limits;
    this.found = new Found(rules);
    this.longest = 0;
    this.firstLong = null;
  }

  take(field, line, place) {
    const text = normal(field);
    if (text === "") this.found.noteLater(this.emptyCode, () => [place(), { column: quoted(this.name) }]);
    else this.takeText(text, line, place);
    const most = this.limits.field_length;
    if (most === null || text.length <= most) return;
    const length = lengthOf(text);
    if (length > most) this.firstLong ??= place();
    this.longest = Math.max(this.longest, length);
  }

  tellLength(found) {
    if (this.firstLong === null) return;
    const { line, column } = this.firstLong;
    const facts = { count: counted(this.longest), most: counted(this.limits.field_length) };
    found.note("field_too_long", { line, column }, facts);
  }
}

class Ids extends Texts {
  emptyCode = "empty_id";
  first = new Map(); // the line of each id
  again = new Map(); // ids that stand in several rows

  takeText(id, line, place) {
    const before = this.first.get(id);
    if (before === undefined) {
      this.first.set(id, line);
      return;
    }
    const held = this.again.get(id);
    if (held === undefined) this.again.set(id, { lines: [before, line], count: 2, place: place({ id }) });
    else if (++held.count <= MOST_LINES) held.lines.push(line);
  }

  tell() {
    for (const [id, held] of [...this.again].sort(([, one], [, other]) => one.lines[0] - other.lines[0])) {
      this.found.noteLater("duplicate_id", () => [held.place, { id: quoted(cut(id)), places: linesOf(held) }]);
    }
    return this.found;
  }
}

function linesOf({ lines, count }) {
  const numbers = lines.map(counted);
  if (count > lines.length) return `lines ${numbers.join(", ")} and ${counted(count - lines.length)} more`;
  return `lines ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

class Labels extends Texts {
  emptyCode = "empty_field";
  distinct = new Set();

  takeText(label) {
    if (this.limits.labels !== null) this.distinct.add(label);
  }

  tell() {
    const most = this.limits.labels;
    if (most !== null && this.distinct.size > most) {
      const facts = { count: counted(this.distinct.size), most: counted(most) };
      this.found.note("too_many_labels", { field: this.name }, facts);
    }
    return this.found;
  }
}

/** A column of numbers, which must be finite, and probabilities between 0 and 1. */
class Numbers {
  constructor(name, at, rules, limits, task) {
    this.name = name;
    this.at = at;
    this.between = task === "probabilities";
    this.faults = new Found(rules);
    this.infinite = new Found(rules);
    this.outside = new Found(rules);
    this.value = 0;
  }

  take(field, line, place) {
    const text = strip(field, (code) => code === 32 || code === 9);
    this.value = 0; // also of what is no number, so that it is not noted twice
    if (!NUMBER.test(text)) {
      const facts = { column: quoted(this.name), value: quoted(cut(text)) };
      this.faults.noteLater(text === "" ? "empty_field" : "not_a_number", () => [place(), facts]);
      return;
    }
    this.value = numberOf(text);
    const told = () => [place(), { value: short(this.value) }];
    if (!Number.isFinite(this.value)) this.infinite.noteLater("not_finite", told);
    else if (this.between && (this.value < 0 || this.value > 1)) this.outside.noteLater("out_of_range", told);
  }

  tell() {
    this.infinite.addAll(this.outside);
    return this.infinite;
  }
}

function numberOf(text) {
  if (/n$/i.test(text)) return NaN;
  if (/[fy]$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text);
}
