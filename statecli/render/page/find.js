// Finding states by their name, kind or description.
const search = by("p-search"), results = by("p-results"), foundCount = by("p-found");
const SHOWN = 50;
let matches = [];
let active = -1;

function plainly(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

const names = states.map((state) => plainly(state.name));
const texts = states.map((state) => plainly([state.name, state.title, state.kind, state.about,
  ...(state.tasks ?? []).map((task) => task.about)].filter(Boolean).join("\n")));

// Better matches first: the whole name, its beginning, a part of it, the rest.
function find(text) {
  const wanted = plainly(text.trim()).split(/\s+/).filter(Boolean);
  if (!wanted.length) return [];
  const whole = wanted.join(" ");
  const found = [];
  texts.forEach((about, at) => {
    if (!wanted.every((word) => about.includes(word))) return;
    const name = names[at];
    const rank = name === whole ? 0 : name.startsWith(wanted[0]) ? 1 :
      wanted.every((word) => name.includes(word)) ? 2 : 3;
    found.push([rank, at]);
  });
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, at]) => at);
}

function look() {
  for (const at of matches) shapes[boxOf[at]]?.classList.remove("p-match");
  matches = find(search.value);
  for (const at of matches) shapes[boxOf[at]]?.classList.add("p-match");
  svg.classList.toggle("p-finding", matches.length > 0);
  active = -1;
  listed();
}

function listed() {
  const asked = search.value.trim() !== "";
  results.replaceChildren(...matches.slice(0, SHOWN).map(option));
  if (matches.length > SHOWN) {
    const more = h("li", "p-quiet", `and ${matches.length - SHOWN} more`);
    more.setAttribute("role", "presentation");
    results.append(more);
  }
  expand(matches.length > 0);
  count(asked);
}

function count(asked) {
  foundCount.textContent = !asked ? "" : !matches.length ? "nothing found" :
    active >= 0 ? `${active + 1} of ${matches.length}` : plural(matches.length, "match").replace("matchs", "matches");
}

function expand(on) {
  results.hidden = !on;
  search.setAttribute("aria-expanded", String(on));
}

function option(at, number) {
  const item = h("li", "", sign(states[at].look), words(nameOf(at), "p-name"),
    states[at].about || states[at].title ? words(states[at].about || states[at].title, "p-quiet") : null);
  item.id = `p-result-${number}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  item.addEventListener("pointerdown", (event) => event.preventDefault());
  item.addEventListener("click", () => { step(number); expand(false); });
  return item;
}

// Go to a match; the next one after the last is the first.
function step(number) {
  if (!matches.length) return;
  results.children[active]?.setAttribute("aria-selected", "false");
  active = (number + matches.length) % matches.length;
  const item = active < SHOWN ? results.children[active] : null;
  item?.setAttribute("aria-selected", "true");
  item?.scrollIntoView({block: "nearest"});
  search.setAttribute("aria-activedescendant", item ? item.id : "");
  count(true);
  choose(matches[active], {quiet: true});
}

search.addEventListener("input", look);
search.addEventListener("focus", () => { if (matches.length) expand(true); });
search.addEventListener("blur", () => expand(false));
by("p-finder").addEventListener("submit", (event) => event.preventDefault());

search.addEventListener("keydown", (event) => {
  const moves = new Map([["ArrowDown", 1], ["ArrowUp", -1], ["Enter", event.shiftKey ? -1 : 1]]);
  if (event.isComposing) return;
  if (moves.has(event.key)) {
    event.preventDefault();
    step(active < 0 && moves.get(event.key) < 0 ? -1 : active + moves.get(event.key));
  } else if (event.key === "Escape") {
    event.preventDefault();
    event.stopPropagation();
    leave();
  }
});

// Escape empties the field first, then leaves it: to what was found, if something was.
function leave() {
  if (!search.value) {
    search.blur();
    return;
  }
  const at = active >= 0 ? boxOf[matches[active]] : -1;
  search.value = "";
  look();
  search.blur();
  if (at >= 0) shapes[at].focus({preventScroll: true});
}
