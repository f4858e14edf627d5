// What is chosen. A key is the number of a state, "." and the id of a box or an arrow, or one of
// "graph" and "findings"; null for nothing. It stands in the address too, so that Back works and a
// link can lead to a state: page.html#/name.
const boxAt = new Map(boxes.map((box, at) => [box.id, at]));
const arrowAt = new Map(arrows.map((arrow, at) => [arrow.id, at]));
const stateAt = new Map();
states.forEach((state, at) => { if (!stateAt.has(state.name)) stateAt.set(state.name, at); });
let lit = [];
let chosen = null;
let came = null;

function keyOfBox(at) {
  const box = boxes[at];
  return box.state !== undefined ? box.state : "." + box.id;
}

function address(key) {
  if (key === null) return "#";
  if (typeof key !== "number") return "#" + key;
  try {
    return "#/" + encodeURIComponent(states[key].name);
  } catch {
    return "#." + (boxes[boxOf[key]]?.id ?? "");
  }
}

function keyHere() {
  const hash = location.hash.slice(1);
  try {
    if (hash.startsWith("/")) return stateAt.get(decodeURIComponent(hash.slice(1))) ?? null;
  } catch {
    return null;
  }
  if (hash === "graph" || (hash === "findings" && findings.length)) return hash;
  const id = hash.slice(1);
  if (hash.startsWith(".") && boxAt.has(id)) return keyOfBox(boxAt.get(id));
  return hash.startsWith(".") && arrowAt.has(id) ? hash : null;
}

// `quiet`: the focus stays where it is.
function choose(key, {quiet = false, keep = false} = {}) {
  if (key === null && chosen === null) return;
  if (key !== null && panel.hidden) came = document.activeElement;
  chosen = key;
  if (key === null) {
    const inside = panel.contains(document.activeElement);
    panel.hidden = true;
    panel.replaceChildren();
    if (inside) back();
  } else {
    tell(key);
    if (!quiet) panel.querySelector("h2").focus({preventScroll: true});
  }
  mark(key);
  if (!keep) {
    try {
      history.pushState(null, "", address(key));
    } catch {
      // A viewer that keeps pages in a frame may not let us; Back then leaves the page.
    }
  }
}

// The focus to where it was before the panel opened, else to the drawing.
function back() {
  const place = came?.isConnected && came !== document.body ? came : stage;
  place.focus({preventScroll: true});
  came = null;
}

function tell(key) {
  if (key === "graph") aboutGraph();
  else if (key === "findings") aboutFindings();
  else if (typeof key === "number") aboutState(key);
  else if (arrowAt.has(key.slice(1))) aboutArrow(arrowAt.get(key.slice(1)));
  else aboutBox(boxAt.get(key.slice(1)));
}

function mark(key) {
  for (const element of lit) element.classList.remove("p-chosen", "p-near", "p-lit");
  lit = [];
  const light = (element, looks) => { element.classList.add(looks); lit.push(element); };
  svg.classList.remove("p-picked");
  inFocus = -1;
  let box = -1;
  if (typeof key === "number") box = boxOf[key];
  else if (key?.startsWith(".") && boxAt.has(key.slice(1))) box = boxAt.get(key.slice(1));
  else if (key?.startsWith(".")) {
    const at = arrowAt.get(key.slice(1));
    svg.classList.add("p-picked");
    light(lines[at], "p-chosen");
    for (const end of arrows[at].ends) light(shapes[end], "p-near");
    if (!inSight(arrows[at].ends[0]) && !inSight(arrows[at].ends[1])) reveal(arrows[at].ends[0]);
    return;
  }
  if (box < 0) return;
  svg.classList.add("p-picked");
  light(shapes[box], "p-chosen");
  for (const at of arrowsAt[box]) {
    light(lines[at], "p-near");
    for (const end of arrows[at].ends) if (end !== box) light(shapes[end], "p-near");
  }
  inFocus = box;
  reveal(box);
}

function inSight(at) {
  const [x, y] = boxes[at].at;
  const px = (x + margin) * view.k + view.x, py = (y + margin) * view.k + view.y;
  return px > 0 && py > 0 && px < stage.clientWidth && py < stage.clientHeight;
}

for (const kind of ["popstate", "hashchange"]) {
  addEventListener(kind, () => {
    const key = keyHere();
    if (key !== chosen) choose(key, {quiet: true, keep: true});
  });
}

// --- the drawing as something to click ---

boxes.forEach((box, at) => {
  if (box.role === "start" || box.role === "bar") return;
  const shape = shapes[at];
  shape.classList.add("p-able");
  shape.setAttribute("tabindex", "0");
  shape.setAttribute("role", "button");
  const state = states[box.state];
  const ways = arrowsAt[at].filter((arrow) => arrows[arrow].ends[0] === at).length;
  shape.setAttribute("aria-label", [boxName(at), state ? state.kind || "no type" : "",
    box.waits ? "waits for the person" : "", box.members ? plural(box.members.length, "state") : "",
    box.here ? "a run is here" : "", box.severity ?? "",
    box.role === "end" ? "" : plural(ways, "way") + " out"].filter(Boolean).join(", "));
});

// A line is too thin to hit: each gets a wide one that cannot be seen.
lines.forEach((line, at) => {
  line.setAttribute("aria-hidden", "true");
  if (arrows[at].style === "link") return;
  const wide = line.querySelector("path").cloneNode(false);
  wide.setAttribute("class", "p-wide");
  line.prepend(wide);
  line.classList.add("p-able");
});

function keyUnder(element) {
  const part = element.closest?.(".p-able");
  if (!part) return null;
  return boxAt.has(part.id) ? keyOfBox(boxAt.get(part.id)) : "." + part.id;
}

svg.setAttribute("role", "group");
svg.setAttribute("aria-label", `${plural(states.length, "state")} and their ways`);
stage.tabIndex = -1;

stage.addEventListener("click", (event) => {
  if (wasDrag()) return;
  const key = keyUnder(event.target);
  if (key !== null || chosen !== null) choose(key, {quiet: true});
});

stage.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  const key = keyUnder(event.target);
  if (key === null) return;
  event.preventDefault();
  choose(key);
});

// Who comes with the keyboard sees where.
stage.addEventListener("focusin", (event) => {
  if (event.target.matches(":focus-visible") && boxAt.has(event.target.id)) reveal(boxAt.get(event.target.id));
});
