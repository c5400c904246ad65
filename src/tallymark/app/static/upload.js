// Sends a form without leaving its page: shows the progress of the upload, accepts dropped files, and refuses a file that
// is too large before it is sent. Without this script the browser sends the form itself.

/** Enhance every form with data-send. */
function enhance() {
  for (const form of document.querySelectorAll("form[data-send]")) new Upload(form);
}

class Upload {
  constructor(form) {
    this.form = form;
    this.input = form.querySelector('input[type="file"]');
    this.bar = form.querySelector("progress");
    this.status = form.querySelector("[data-status]");
    this.request = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.request === null && form.reportValidity()) this.send();
    });
    addEventListener("pageshow", ({ persisted }) => persisted && this.stop("")); // restored from the back/forward cache
    if (this.input) this.takeFiles(form.querySelector("[data-drop]"));
  }

  /** Send a file as soon as it is chosen or dropped, and abort an upload in progress. */
  takeFiles(zone) {
    const chosen = () => {
      this.request?.abort();
      this.stop("");
      if (this.input.files.length) this.send();
    };
    this.input.addEventListener("change", chosen);
    for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.toggle("over", over);
      });
    }
    zone.addEventListener("drop", ({ dataTransfer }) => {
      if (!dataTransfer.files.length) return;
      this.input.files = dataTransfer.files;
      chosen();
    });
  }

  send() {
    const file = this.input?.files[0];
    const most = Number(this.form.dataset.most ?? Infinity);
    if (file && file.size > most) {
      const [size, limit] = [file.size, most].map((count) => count.toLocaleString("en"));
      return this.stop(`${file.name} has ${size} bytes; the limit is ${limit}. Remove unneeded columns.`);
    }
    const request = (this.request = new XMLHttpRequest());
    request.open("POST", this.form.action);
    request.setRequestHeader("Accept", "text/html");
    request.upload.addEventListener("progress", ({ loaded, total }) => this.advance(loaded, total));
    request.upload.addEventListener("load", () => this.wait());
    request.addEventListener("load", () => this.arrive(request));
    request.addEventListener("error", () => this.stop("The connection was lost. Try again."));
    request.send(new FormData(this.form));
    if (file) this.say(`Sending ${file.name} …`);
    if (this.bar) this.bar.hidden = false;
  }

  say(text) {
    this.status.textContent = text;
  }

  advance(loaded, total) {
    if (this.bar) [this.bar.max, this.bar.value] = [total, loaded];
  }

  wait() {
    this.bar?.removeAttribute("value");
    this.say(this.form.dataset.send);
  }

  stop(text) {
    this.request = null;
    if (this.bar) this.bar.hidden = true;
    this.say(text);
  }

  /** Follow a redirect; any other response replaces the page. */
  arrive(request) {
    const led = request.responseURL !== "" && request.responseURL !== this.form.action;
    if (request.status < 400 && led) return location.assign(request.responseURL);
    const kind = request.getResponseHeader("Content-Type") ?? "";
    if (!kind.startsWith("text/html")) return this.stop(`The upload failed: the server answered ${request.status}.`);
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    document.title = page.title;
    document.body.replaceWith(document.adoptNode(page.body));
    enhance();
    scrollTo(0, 0);
    const news = document.querySelector("[data-result], .problems .lead, .error") ?? document.querySelector("h1");
    news.setAttribute("tabindex", "-1"); // so that a screen reader begins there
    news.focus();
  }
}

enhance();
