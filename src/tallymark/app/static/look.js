// Remembers the chosen theme. It follows the switch directly, so that no other theme flashes up first.
const kept = "tallymark-look";

function choose() {
  const chosen = document.getElementById(localStorage.getItem(kept) ?? "system");
  if (chosen) chosen.checked = true;
}

try {
  choose();
  document.addEventListener("change", ({ target }) => {
    if (target.name === "look") localStorage.setItem(kept, target.id);
  });
  // The response to an upload replaces the body, switch included.
  new MutationObserver(choose).observe(document.documentElement, { childList: true });
} catch {
  // Without storage, every page has the theme of the system.
}
