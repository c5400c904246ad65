// What scrolls can be reached by the keyboard.
for (const box of document.querySelectorAll("pre, .table-wrapper")) {
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
  }
}
