// Keeps the look that was chosen. It stands right behind the switch, so that nothing is seen in another look first.
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
  // The answer to an upload takes the place of the body, with a switch of its own.
  new MutationObserver(choose).observe(document.documentElement, { childList: true });
} catch {
  // Without a place to keep it, the look is that of the system on every page.
}
