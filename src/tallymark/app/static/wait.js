// Looks again at a result that is waited for, and shows what is new without losing the reader's place.
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
    // The server is away for a moment: the next look may find it.
  }
  look();
};
look();
