// What the page knows: states, boxes and arrows by their numbers, and how they hang together.
const graph = JSON.parse(document.getElementById("p-data").textContent);
const {states, boxes, arrows} = graph;
const by = (id) => document.getElementById(id);
const svg = document.querySelector("#p-stage > svg");

// Where a state is drawn: its own box, or that of the group it is in. -1: not in this drawing.
const boxOf = states.map(() => -1);
boxes.forEach((box, at) => {
  if (box.state !== undefined) boxOf[box.state] = at;
  for (const member of box.members ?? []) boxOf[member] = at;
});

// The ways into each state, as [state, place of the route among those tried there].
const into = states.map(() => []);
states.forEach((state, from) => {
  (state.routes ?? []).forEach((route, place) => {
    if (route.to >= 0) into[route.to].push([from, place]);
  });
});
// After an error, or without a valid choice: [state, key].
const jumpsInto = states.map(() => []);
states.forEach((state, from) => {
  for (const jump of state.jumps ?? []) if (jump.to >= 0) jumpsInto[jump.to].push([from, jump.key]);
});

// Arrows at each box, and the arrow of each route.
const arrowsAt = boxes.map(() => []);
const arrowOf = states.map(() => new Map());
arrows.forEach((arrow, at) => {
  arrowsAt[arrow.ends[0]].push(at);
  if (arrow.ends[1] !== arrow.ends[0]) arrowsAt[arrow.ends[1]].push(at);
  if (arrow.route) arrowOf[arrow.route[0]].set(arrow.route[1], at);
});

const shapes = boxes.map((box) => by(box.id));
const lines = arrows.map((arrow) => by(arrow.id));

function nameOf(state) {
  return states[state].name || "(no name)";
}

function boxName(at) {
  const box = boxes[at];
  if (box.state !== undefined) return nameOf(box.state);
  return {start: "the start", end: "the end", bar: "a bar"}[box.role] ?? box.name ?? "(no name)";
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
