// What is wrong with a file, all at once: the first problems are kept, all are counted.

import { counted } from "./words.js";

const MOST_SHOWN = 50;
const MOST_COUNTED = 10_000; // that are looked for: a file of nothing else is not read to its end

/** Problems as they are found; `stopped` where there may be more of them. */
export class Found {
  constructor(rules) {
    this.rules = rules;
    this.kept = [];
    this.total = 0;
    this.stopped = false;
  }

  get full() {
    return this.kept.length >= MOST_SHOWN;
  }

  /** Note the breach of a rule; of many, those beyond the first are only counted. */
  note(code, place = {}, facts = {}) {
    this.total++;
    if (this.full) return;
    const says = this.rules[code].says.replace(/\{(\w+)\}/g, (_, name) => String(facts[name]));
    this.kept.push({ code, text: says, ...place, mend: this.rules[code].mend });
  }

  /** The same, where it costs something to find out place and facts: a function gives both. */
  noteLater(code, tell) {
    if (this.full) this.total++;
    else this.note(code, ...tell());
  }

  /** Take in the problems of others, as if they were noted here. */
  addAll(other) {
    const room = Math.max(MOST_SHOWN - this.kept.length, 0);
    this.kept.push(...other.kept.slice(0, room));
    this.total += other.total;
  }

  /** Both together. */
  join(other) {
    const both = new Found(this.rules);
    both.kept = [...this.kept, ...other.kept];
    both.total = this.total + other.total;
    both.stopped = this.stopped || other.stopped;
    return both;
  }

  /** Whether to read no further: there are as many as are counted, or somebody said so. */
  enough() {
    if (this.total >= MOST_COUNTED) this.stopped = true;
    return this.stopped;
  }

  /** The first problems in the order of the file. */
  shown() {
    const line = (each) => each.line ?? each.row ?? -1;
    const order = (one, other) => line(one) - line(other) || (one.column ?? 0) - (other.column ?? 0);
    return [...this.kept].sort(order).slice(0, MOST_SHOWN);
  }
}

/** Where a problem is, in words; empty for the file as a whole. */
export function placeOf({ line, column }) {
  if (line === undefined) return "";
  return `line ${counted(line)}` + (column === undefined ? "" : `, column ${counted(column)}`);
}
