// Makes a form with a file say what is wrong with the file before it is sent, and how far the sending is. Without this
// script the form does the same with a page for each step.

import { checkFile } from "./check.js";
import { placeOf } from "./problems.js";
import { counted } from "./words.js";

/** Take care of every form of the document that asks for it. */
export function enhance(root = document) {
  const rules = root.querySelector("script#rules");
  const settings = rules === null ? null : JSON.parse(rules.textContent);
  for (const form of root.querySelectorAll("form[data-upload]")) new Upload(form, settings);
}

class Upload {
  constructor(form, settings) {
    this.form = form;
    this.settings = settings;
    this.input = form.querySelector('input[type="file"]');
    this.button = form.querySelector('button[type="submit"], button:not([type])');
    this.bar = form.querySelector("progress");
    this.status = live(form.querySelector("[data-status]"));
    this.list = live(form.querySelector("[data-problems]"));
    this.sends = this.button?.textContent;
    this.checking = null;
    this.sending = false;
    if (this.bar) this.bar.hidden = true;
    this.input.addEventListener("change", () => this.check());
    form.addEventListener("submit", (event) => this.submit(event));
    addEventListener("pageshow", ({ persisted }) => persisted && this.fail("")); // somebody came back
    const zone = form.querySelector("[data-drop]");
    if (zone) this.takeDrops(zone);
    if (this.input.files.length) this.check(); // the browser remembers it when somebody comes back
  }

  say(text) {
    if (this.status) this.status.textContent = text;
  }

  takeDrops(zone) {
    for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.toggle("over", over);
      });
    }
    zone.addEventListener("drop", ({ dataTransfer }) => {
      if (!dataTransfer.files.length || this.sending) return;
      this.input.files = dataTransfer.files;
      this.check();
    });
  }

  /** Look at the file that was chosen; a look at one that was chosen before ends. */
  async check() {
    this.checking?.abort();
    this.list?.replaceChildren();
    if (this.button) this.button.textContent = this.sends;
    this.say("");
    const file = this.input.files[0];
    if (file === undefined || this.settings === null) return;
    const { signal } = (this.checking = new AbortController());
    this.say(`Checking ${file.name} …`);
    try {
      const found = await checkFile(file, this.settings, { signal });
      if (!signal.aborted) this.show(file, found);
    } catch {
      if (!signal.aborted) this.say(`${file.name} could not be looked at here; it is checked when it arrives.`);
    }
  }

  show(file, { problems, total, stopped, rows, later }) {
    if (later) return this.say(`${file.name} is checked when it arrives.`);
    if (!total) return this.say(`${file.name}: ${several(rows, "row")} can be read.`);
    const least = stopped ? "at least " : "";
    this.say(`${file.name} would be rejected: ${least}${several(total, "problem")}.`);
    if (this.button) this.button.textContent = "Send it anyway";
    const items = problems.map(itemOf);
    this.list?.append(element("ol", "problems", ...items));
    const rest = total > items.length ? `and ${least}${counted(total - items.length)} more` : "";
    const unread = stopped ? "the rest was not looked at" : "";
    const ending = [rest, unread].filter(Boolean).join("; ");
    if (ending) this.list?.append(element("p", "more", ending));
  }

  submit(event) {
    event.preventDefault();
    if (this.sending || !this.form.reportValidity()) return;
    this.sending = true;
    const request = new XMLHttpRequest();
    request.open(this.form.method, this.form.action);
    request.setRequestHeader("Accept", "text/html");
    request.upload.addEventListener("progress", ({ loaded, total }) => this.advance(loaded, total));
    request.upload.addEventListener("load", () => this.wait());
    request.addEventListener("load", () => this.arrive(request));
    request.addEventListener("error", () => this.fail("The connection broke before an answer came. Send it again."));
    this.say("Sending …");
    if (this.bar) this.bar.hidden = false;
    request.send(new FormData(this.form, event.submitter));
  }

  advance(loaded, total) {
    if (this.bar) [this.bar.max, this.bar.value] = [total, loaded];
  }

  wait() {
    this.bar?.removeAttribute("value");
    this.say("Scoring …");
  }

  /** Go where the server leads; where it does not, its answer takes the place of the page. */
  arrive(request) {
    const led = request.responseURL !== "" && request.responseURL !== this.form.action;
    if (request.status < 400 && led) return location.assign(request.responseURL);
    const kind = request.getResponseHeader("Content-Type") ?? "";
    if (!kind.startsWith("text/html")) return this.fail(`The file was not taken: the server answered ${request.status}.`);
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    document.title = page.title;
    document.body.replaceWith(document.adoptNode(page.body));
    enhance();
    scrollTo(0, 0);
    const heading = document.querySelector("h1");
    heading?.setAttribute("tabindex", "-1"); // so that a screen reader begins there
    heading?.focus();
  }

  fail(text) {
    this.sending = false;
    if (this.bar) this.bar.hidden = true;
    this.say(text);
  }
}

/** What is read aloud when it changes. */
function live(node) {
  if (node && !node.hasAttribute("aria-live")) node.setAttribute("aria-live", "polite");
  return node;
}

function several(count, word) {
  return `${counted(count)} ${word}${count === 1 ? "" : "s"}`;
}

function itemOf(problem) {
  const place = placeOf(problem);
  const where = place ? [element("span", "place", place)] : [];
  const says = element("span", "says", `${problem.text}.`);
  says.dir = "auto"; // names of columns may be of any script
  return element("li", "problem", ...where, says, element("span", "mend", `${problem.mend}.`));
}

/** A node with texts and nodes in it, and blanks between them; a text stays a text, whatever is in it. */
function element(name, kind, ...inside) {
  const node = document.createElement(name);
  node.className = kind;
  inside.forEach((each, k) => node.append(...(k ? [" ", each] : [each])));
  return node;
}

if (typeof document !== "undefined") enhance();
