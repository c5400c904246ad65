// Polls a pending result and shows changes without losing the scroll position.
const look = async () => {
  const mark = document.querySelector("[data-refresh]");
  if (!mark) return;
  await new Promise((done) => setTimeout(done, 1000 * Number(mark.dataset.refresh)));
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.ok) {
      const there = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
      const here = document.querySelector("main");
      if (there && there.innerHTML !== here.innerHTML) here.replaceChildren(...there.childNodes);
    }
  } catch {
    // The server is unreachable for a moment: the next poll may succeed.
  }
  look();
};
look();
