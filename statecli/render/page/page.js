// Keys, theme, help, and the first sight of the page.
document.documentElement.classList.add("p-alive");

// --- what was found by --lint ---

const LEVELS = ["error", "warning", "info"];
const findings = [];
boxes.forEach((box, at) => {
  for (const [severity, text] of box.messages ?? []) findings.push([severity, text, keyOfBox(at), boxName(at)]);
});
arrows.forEach((arrow) => {
  const name = `${boxName(arrow.ends[0])} → ${boxName(arrow.ends[1])}`;
  for (const [severity, text] of arrow.messages ?? []) findings.push([severity, text, "." + arrow.id, name]);
});
findings.sort((a, b) => LEVELS.indexOf(a[0]) - LEVELS.indexOf(b[0]));
if (findings.length) {
  const counts = LEVELS.map((level) => [findings.filter(([own]) => own === level).length, level]);
  const text = counts.filter(([count]) => count).map(([count, level]) => plural(count, level)).join(", ");
  by("p-findings").textContent = text;
  by("p-findings").classList.add(`p-${findings[0][0]}`);
  by("p-findings").hidden = false;
  by("p-findings").addEventListener("click", () => choose("findings"));
}

by("p-size").textContent = plural(states.length, "state");
by("p-title").addEventListener("click", () => choose("graph"));

// --- theme ---

const THEMES = ["auto", "light", "dark"];
const SAID = new Map([["auto", "as the system is"], ["light", "light"], ["dark", "dark"]]);
const HOLDS = new Map([["auto", "screen and (prefers-color-scheme: dark)"], ["light", "not all"], ["dark", "screen"]]);

function kept(theme) {
  try {
    if (theme) localStorage.setItem("statecli-theme", theme);
    return localStorage.getItem("statecli-theme");
  } catch {
    return null; // No storage for pages from disk in some browsers: it lasts as long as the page.
  }
}

function paint(theme) {
  document.documentElement.dataset.theme = theme;
  by("p-dark").media = HOLDS.get(theme);
  by("p-theme").setAttribute("aria-label", `Colours: ${SAID.get(theme)}`);
  by("p-theme").title = `Colours: ${SAID.get(theme)} (T)`;
}

function otherTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  kept(theme);
  paint(theme);
}

const remembered = kept();
paint(HOLDS.has(remembered) ? remembered : document.documentElement.dataset.theme);
by("p-theme").addEventListener("click", otherTheme);

// --- help ---

const help = by("p-help");
by("p-ask").addEventListener("click", () => help.showModal());
help.addEventListener("click", (event) => { if (event.target === help) help.close(); });

// --- keys ---

const STEP = 90;
const keys = new Map([
  ["/", () => { search.focus(); search.select(); }],
  ["?", () => help.showModal()],
  ["+", () => { gently(); zoom(1.3); }],
  ["=", () => { gently(); zoom(1.3); }],
  ["-", () => { gently(); zoom(1 / 1.3); }],
  ["0", () => { gently(); fit(); }],
  ["1", () => { gently(); zoom(1 / view.k); }],
  ["t", otherTheme],
  ["ArrowLeft", () => pan(STEP, 0)],
  ["ArrowRight", () => pan(-STEP, 0)],
  ["ArrowUp", () => pan(0, STEP)],
  ["ArrowDown", () => pan(0, -STEP)],
  ["Escape", () => choose(null)],
]);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
  if (event.target.matches?.("input")) return;
  if (event.key.startsWith("Arrow") && panel.contains(event.target)) return;
  const action = keys.get(event.key) ?? keys.get(event.key.toLowerCase());
  if (!action) return;
  event.preventDefault();
  if (event.key.startsWith("Arrow")) atOnce();
  action();
});

// --- first sight ---

open();
if (keyHere() !== null) choose(keyHere(), {quiet: true, keep: true});
