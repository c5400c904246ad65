// What scrolls can be reached by the keyboard.
for (const box of document.querySelectorAll("pre, .table-wrapper")) {
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
  }
}

// Where several versions are hosted side by side, ../versions.json lists their folders: offer them.
async function offerVersions(root) {
  const answer = await fetch(new URL("../versions.json", root));
  if (!answer.ok) {
    return;
  }
  const choice = document.createElement("select");
  choice.className = "version-choice";
  choice.ariaLabel = "Version of the documentation";
  for (const version of await answer.json()) {
    const folder = new URL(`../${encodeURIComponent(version)}/`, root);
    choice.add(new Option(version, folder.href, false, folder.href === root.href));
  }
  choice.addEventListener("change", async () => {
    const samePage = choice.value + location.href.slice(root.href.length);
    const there = await fetch(samePage, { method: "HEAD" });
    location.href = there.ok ? samePage : choice.value;
  });
  document.querySelector(".sidebar-brand").after(choice);
}
if (location.protocol.startsWith("http")) {
  offerVersions(new URL(document.documentElement.dataset.content_root, location.href));
}
