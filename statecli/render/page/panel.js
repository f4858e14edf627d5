// What stands in the panel about a state, a way, a group, the graph.
const panel = by("p-panel");

function fill(head, kind, ...inside) {
  const title = h("h2", "", head);
  title.tabIndex = -1;
  const close = button(cross(), () => choose(null), "p-icon p-close");
  close.setAttribute("aria-label", "Close");
  close.title = "Close (Esc)";
  panel.replaceChildren(h("header", "", kind, title, close), ...inside.flat().filter(Boolean));
  panel.hidden = false;
  panel.scrollTop = 0;
}

function cross() {
  const picture = by("p-help").querySelector(".p-close svg");
  return picture.cloneNode(true);
}

function chip(text, looks = "") {
  return h("span", `p-chip ${looks}`, text);
}

// --- a state ---

function aboutState(at) {
  const state = states[at], box = boxOf[at] >= 0 ? boxes[boxOf[at]] : {};
  const own = box.state === at;
  const kind = h("div", "p-kind", sign(state.look), words(state.kind || "no type"),
    own && box.waits ? chip("waits for the person") : null,
    own && box.ends ? chip("ends the run") : null,
    graph.begins.includes(at) ? chip("begins here") : null,
    own && box.here ? chip("a run is here", "p-here") : null);
  const bare = (text) => text.toLowerCase().replace(/[-_.\s]+/g, " ");
  const title = state.title && bare(state.title) !== bare(state.name) ? words(state.title, "p-title") : null;
  fill(words(nameOf(at)), kind,
    title || state.about ? h("div", "p-about", title, state.about ? h("p", "", words(state.about)) : null) : null,
    own ? counted(box) : null,
    messages(notesOf(state, own ? box : {})),
    !own && box.role === "group" ? h("p", "p-quiet", "Drawn as a part of ", button(box.name, () => choose("." + box.id))) : null,
    boxOf[at] < 0 ? h("p", "p-quiet", "Not in this drawing.") : null,
    waysOut(at),
    waysIn(at),
    goal(state.goal),
    tasks(state),
    section("Data", list("reads", state.reads), list("writes", state.writes)),
    settings("Settings", state.settings),
    place(state.line));
}

// What is marked on the box, then what else was found in the state.
function notesOf(state, box) {
  const marked = box.messages ?? [];
  return marked.concat((state.notes ?? []).filter(([, text]) => !marked.some((one) => one[1] === text)));
}

function place(line) {
  return line ? h("p", "p-quiet p-place", words(graph.path || graph.title), `, line ${line}`) : null;
}

function counted(item) {
  const found = [];
  if (item.times !== undefined && item.times !== null) {
    found.push(item.times ? plural(item.times, "time") : "never");
  }
  if (item.steps?.length) found.push(`${item.steps.length > 1 ? "steps" : "step"} ${item.steps.join(", ")}`);
  if (!found.length) return null;
  const where = graph.counted ? [" (", words(graph.counted), ")"] : [];
  return h("p", item.times === 0 ? "p-quiet" : "p-counted", found.join(", "), where);
}

function waysOut(at) {
  const state = states[at];
  const routes = (state.routes ?? []).map((route, place) => way(at, route, place));
  const jumps = (state.jumps ?? []).map((jump) => h("li", "p-jump",
    h("div", "p-head", target(jump), chip(words(jump.key))),
    h("p", "p-needs", jump.key === "on_error" ? "after an error" : "without a valid choice")));
  const otherwise = state.otherwise ? h("p", "p-quiet", words(state.otherwise)) : null;
  const free = (state.routes ?? []).every((route) => route.chosen);
  const head = routes.length < 2 ? "Ways out" : state.together ? "Ways out, all that hold are taken at once" :
    free ? "Ways out, the model chooses" : "Ways out, tried in this order";
  const plain = routes.length < 2 || free;
  return section(head,
    routes.length ? h(plain ? "ul" : "ol", state.together ? "p-ways p-together" : "p-ways", routes) : null,
    jumps.length ? h("ul", "p-ways p-jumps", jumps) : null, otherwise);
}

function target(route) {
  if (route.to >= 0) return button(nameOf(route.to), () => choose(route.to));
  if (route.end) {
    const end = boxes.findIndex((box) => box.role === "end");
    return end < 0 ? words("the end") : button("the end", () => choose("." + boxes[end].id));
  }
  return h("span", "p-missing", words(route.name ?? ""), " (there is no such state)");
}

function way(from, route, place) {
  const drawn = arrowOf[from].get(place);
  const item = h("li", route.never ? "p-never" : "",
    h("div", "p-head", target(route),
      route.chosen && !states[from].routes.every((other) => other.chosen) ? chip("the model chooses") : null,
      route.implicit ? chip("implicit") : null,
      route.group ? chip(["group ", words(route.group)]) : null),
    facts(from, route, place));
  if (drawn !== undefined) {
    const light = (on) => lines[drawn].classList.toggle("p-lit", on);
    for (const kind of ["pointerenter", "focusin"]) item.addEventListener(kind, () => light(true));
    for (const kind of ["pointerleave", "focusout"]) item.addEventListener(kind, () => light(false));
  }
  return item;
}

// What is to be said about a route besides where it leads.
function facts(from, route, place) {
  const drawn = arrowOf[from].get(place);
  const needs = route.chosen ? route.needs.replace(/^the model chooses(; )?/, "") : route.needs;
  return [
    needs ? h("p", "p-needs", words(needs)) : null,
    route.about ? h("p", "", words(route.about)) : null,
    route.implicit ? h("p", "p-quiet", words(route.implicit)) : null,
    (route.never ?? []).map((reason) => h("p", "p-message p-warning", h("b", "", "never taken"), " ", words(reason))),
    route.example ?
      h("p", "p-quiet", states[from].together ? "for example with " : "first, for example, with ", words(route.example)) : null,
    messages((route.notes ?? []).filter(([, text]) => !told(route, text))),
    drawn !== undefined ? counted(arrows[drawn]) : null,
  ].flat().filter(Boolean);
}

// Whether a diagnostic only says again why a route is never taken.
function told(route, text) {
  return (route.never ?? []).some((reason) => text.includes(reason) || reason.includes(text));
}

function waysIn(at) {
  const plain = into[at].map(([from, place]) => h("li", "",
    h("div", "p-head", from === at ? h("span", "", "itself") : button(nameOf(from), () => choose(from))),
    needsOf(states[from].routes[place])));
  const jumps = jumpsInto[at].map(([from, key]) => h("li", "",
    h("div", "p-head", button(nameOf(from), () => choose(from)), chip(words(key)))));
  const shown = long([...plain, ...jumps]);
  const begins = graph.begins.includes(at) ? h("p", "p-quiet", "A run begins here.") : null;
  const none = !shown && !begins ? h("p", "p-quiet", "None: nothing leads here.") : null;
  return section("Ways in", begins, shown, none);
}

// What a way in needs, on one line.
function needsOf(route) {
  return h("p", "p-needs", words(route.needs), route.chosen && route.about ? [": ", words(route.about)] : null);
}

// A list; the end of a very long one only on demand.
function long(items, most = 60) {
  if (!items.length) return null;
  const found = h("ul", "p-ways", items.slice(0, most));
  if (items.length > most) {
    const more = h("li", "", button(`${items.length - most} more`, () => more.replaceWith(...items.slice(most))));
    found.append(more);
  }
  return found;
}

function tasks(state) {
  const items = (state.tasks ?? []).map((task) => h("li", "",
    h("div", "p-head", h("span", "p-task", words(task.about || task.name)), task.optional ? chip("optional") : null),
    task.how ? h("p", "", words(task.how)) : null, collects(task)));
  const head = state.ordered ? "Tasks, in this order" : "Tasks, in any order";
  return section(items.length > 1 ? head : "Task", items.length ? h(state.ordered ? "ol" : "ul", "p-ways p-tasks", items) : null);
}

function goal(item) {
  if (!item) return null;
  return section("Goal", h("p", "", words(item.about ?? "")),
    item.how ? h("p", "p-quiet", "reached when: ", words(item.how)) : null, collects(item));
}

function collects(task) {
  return (task.collects ?? []).map((item) => h("p", "p-collects", "→ ", words(item.name, "p-code"),
    item.about ? h("span", "p-quiet", " ", words(item.about)) : null));
}

function list(head, names) {
  if (!names?.length) return null;
  return h("p", "", h("span", "p-quiet", `${head} `), names.map((name) => words(name, "p-code")));
}

function settings(head, pairs) {
  const rows = (pairs ?? []).map(([key, text]) => {
    const value = h("dd", text.length > 40 || text.includes("\n") ? "p-text" : "", words(text));
    return h("div", "", h("dt", "", words(key)), value);
  });
  return section(head, rows.length ? h("dl", "p-settings", rows) : null);
}

// --- a way, a group, an end, the graph ---

function aboutArrow(at) {
  const arrow = arrows[at], [source, end] = arrow.ends;
  const go = (box) => button(boxName(box), () => choose(keyOfBox(box)));
  const kinds = new Map([["chosen", "the model chooses"], ["implicit", "implicit"],
    ["jump", "after an error"], ["link", ""]]);
  const route = arrow.route ? states[arrow.route[0]].routes[arrow.route[1]] : null;
  const many = arrow.route ? states[arrow.route[0]].routes.length : 0;
  const order = many > 1 && !states[arrow.route[0]].together ?
    `tried as number ${arrow.route[1] + 1} of ${many}` : "";
  fill(["Way to ", words(boxName(end))],
    h("div", "p-kind", arrow.ways ? chip(`${arrow.ways} ways in one arrow`) : chip(kinds.get(arrow.style) || "way")),
    h("p", "p-fromto", "from ", go(source), " to ", go(end)),
    order ? h("p", "p-quiet", order) : null,
    route ? facts(arrow.route[0], route, arrow.route[1]) : [
      arrow.label ? h("p", "p-needs", words(arrow.label)) : null,
      (arrow.about ?? "").split("\n").filter(Boolean).map((text) => h("p", "", words(text))),
      counted(arrow)],
    messages(route ? (arrow.messages ?? []).filter(([, text]) => !(route.notes ?? []).some((note) => note[1] === text)) :
      arrow.messages ?? []),
    route ? place(route.line) : null);
}

// The arrows that begin (side 0) or end (1) at a box, with what is at their other end.
function ends(at, side) {
  return arrowsAt[at].map((number) => arrows[number]).filter((arrow) => arrow.ends[side] === at).map((arrow) => {
    const other = arrow.ends[1 - side];
    const needs = arrow.route ? states[arrow.route[0]].routes[arrow.route[1]].needs : arrow.label;
    return h("li", "", h("div", "p-head", button(boxName(other), () => choose(keyOfBox(other)))),
      arrow.ways ? h("p", "p-needs", `${arrow.ways} ways`) : needs ? h("p", "p-needs", words(needs)) : null);
  });
}

function aboutBox(at) {
  const box = boxes[at];
  const members = (box.members ?? []).map((member) => h("li", "", h("div", "p-head",
    sign(states[member].look), button(nameOf(member), () => choose(member))),
    states[member].about ? h("p", "p-quiet", words(states[member].about)) : null));
  const kind = box.role === "group" ? plural(box.members?.length ?? 0, "state") :
    box.role === "missing" ? "there is no such state" : box.role === "end" ? "a run ends here" : box.role;
  fill(words(boxName(at)), h("div", "p-kind", chip(kind)),
    counted(box), messages(box.messages ?? []),
    section("States in it", long(members, 200)),
    section("Ways out", long(ends(at, 0))), section("Ways in", long(ends(at, 1))));
}

function aboutGraph() {
  fill(words(graph.title), h("div", "p-kind", chip(plural(states.length, "state"))),
    graph.about ? h("p", "p-about", words(String(graph.about))) : null,
    graph.counted ? h("p", "p-counted", "Counted: ", words(graph.counted)) : null,
    section("Begins in", graph.begins.map((at) => h("p", "", button(nameOf(at), () => choose(at))))),
    settings("Limits", graph.limits), settings("Settings", graph.settings),
    section("States", long(states.map((state, at) => h("li", "",
      h("div", "p-head", sign(state.look), button(nameOf(at), () => choose(at))))), 100)),
    place(1));
}

function aboutFindings() {
  const found = findings.map(([severity, text, key, name]) => h("li", "",
    h("div", "p-head", button(name, () => choose(key))), messages([[severity, text]])));
  fill("Findings", h("div", "p-kind", by("p-findings").textContent), long(found, 300));
}
