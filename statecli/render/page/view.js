// Moving about: the picture keeps its own coordinates and is moved and scaled as a whole. Paper
// ignores that (see page.css), so it prints whole wherever one was.
const stage = by("p-stage");
const paper = svg.viewBox.baseVal;
const margin = 12;
const view = {x: 0, y: 0, k: 1};
const LEAST = 0.02, MOST = 4, FAR = 0.32;
let glide = 0;
let untouched = true;
let inFocus = -1; // the box that is chosen
let due = 0, rest = 0;
// Dashes of thousands of long lines take their time: they are left out while one moves.
const many = arrows.length > 600;

// Once a frame, however often the wheel turns.
function show() {
  if (!due) due = requestAnimationFrame(shown);
}

function shown() {
  due = 0;
  svg.style.transform = `translate(${view.x}px,${view.y}px) scale(${view.k})`;
  const far = view.k < FAR;
  svg.classList.toggle("p-far", far);
  // Lines that are seen from afar; in steps, since every element takes part.
  const thick = far ? String(1.5 ** Math.round(Math.log(1 / view.k) / Math.log(1.5))) : "";
  if (thick !== svg.style.getPropertyValue("--p-thick")) svg.style.setProperty("--p-thick", thick);
  by("p-level").textContent = `${Math.round(view.k * 100)}%`;
}

function gently() {
  // A browser draws the whole of what glides beforehand: too much of a large drawing.
  if (many) {
    atOnce();
    return;
  }
  untouched = false;
  svg.classList.add("p-glide");
  clearTimeout(glide);
  glide = setTimeout(() => svg.classList.remove("p-glide"), 260);
}

function atOnce() {
  untouched = false;
  clearTimeout(glide);
  svg.classList.remove("p-glide");
  if (!many) return;
  svg.classList.add("p-moving");
  clearTimeout(rest);
  rest = setTimeout(() => svg.classList.remove("p-moving"), 200);
}

// So that something of the drawing is always to be seen.
function bounded() {
  const room = 60;
  const {clientWidth: w, clientHeight: h} = stage;
  view.x = Math.min(w - room, Math.max(room - paper.width * view.k, view.x));
  view.y = Math.min(h - room, Math.max(room - paper.height * view.k, view.y));
}

function zoom(factor, px = stage.clientWidth / 2, py = stage.clientHeight / 2) {
  const k = Math.min(MOST, Math.max(Math.min(LEAST, wholeScale()), view.k * factor));
  view.x = px - (px - view.x) * k / view.k;
  view.y = py - (py - view.y) * k / view.k;
  view.k = k;
  bounded();
  show();
}

function pan(dx, dy) {
  untouched = false;
  view.x += dx;
  view.y += dy;
  bounded();
  show();
}

function wholeScale() {
  const {clientWidth: w, clientHeight: h} = stage;
  return Math.min((w - 2 * margin) / paper.width, (h - 2 * margin) / paper.height);
}

function fit() {
  view.k = Math.min(1.25, Math.max(0.005, wholeScale()));
  view.x = (stage.clientWidth - paper.width * view.k) / 2;
  view.y = (stage.clientHeight - paper.height * view.k) / 2;
  show();
}

// Where one begins: everything if that can be read, else where a run begins.
function open() {
  fit();
  if (view.k >= 0.55 || !boxes.length) return;
  const first = boxes.findIndex((box) => box.role === "start");
  const [x, y] = boxes[first < 0 ? 0 : first].at;
  view.k = Math.max(view.k, 0.8);
  view.x = begun(stage.clientWidth, paper.width * view.k, (x + margin) * view.k);
  view.y = begun(stage.clientHeight, paper.height * view.k, (y + margin) * view.k);
  show();
}

// Where the drawing begins on one axis, so that `at` is seen and little room is left empty.
function begun(room, size, at) {
  if (size <= room) return (room - size) / 2;
  return Math.min(margin, Math.max(room - size - margin, at < room * 0.4 ? margin : room / 2 - at));
}

// Bring a box into sight; into the middle if it was out of it, or too small to be read.
function reveal(at, centre = false) {
  const [x, y, w, h] = boxes[at].at;
  const {clientWidth, clientHeight} = stage;
  const small = view.k < 0.55;
  const left = (x + margin - w / 2) * view.k + view.x, top = (y + margin - h / 2) * view.k + view.y;
  const inside = left > 16 && top > 16 && left + w * view.k < clientWidth - 16 &&
    top + h * view.k < clientHeight - 16;
  if (inside && !small && !centre) return;
  gently();
  if (small) view.k = 0.9;
  view.x = clientWidth / 2 - (x + margin) * view.k;
  view.y = clientHeight / 2 - (y + margin) * view.k;
  show();
}

// --- wheel, mouse and fingers ---

stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  atOnce();
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 300 : 1;
  if (event.shiftKey) {
    pan(-(event.deltaX || event.deltaY) * unit, 0);
    return;
  }
  const strength = event.ctrlKey ? 0.01 : 0.0016;
  const turn = Math.max(-300, Math.min(300, event.deltaY * unit));
  zoom(Math.exp(-turn * strength), ...local(event));
}, {passive: false});

function local(event) {
  const frame = stage.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
}

const fingers = new Map();
let dragging = false;

stage.addEventListener("pointerdown", (event) => {
  if (event.pointerType === "mouse" && event.button) return;
  fingers.set(event.pointerId, {start: local(event), last: local(event)});
  dragging = fingers.size > 1;
});

stage.addEventListener("pointermove", (event) => {
  const finger = fingers.get(event.pointerId);
  if (!finger) return;
  const now = local(event);
  if (!dragging && Math.hypot(now[0] - finger.start[0], now[1] - finger.start[1]) < 5) return;
  if (!dragging || !stage.hasPointerCapture(event.pointerId)) stage.setPointerCapture(event.pointerId);
  dragging = true;
  stage.classList.add("p-held");
  atOnce();
  if (fingers.size === 1) {
    pan(now[0] - finger.last[0], now[1] - finger.last[1]);
  } else {
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1].last;
    const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
    zoom(apart(now) / apart(finger.last), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }
  finger.last = now;
});

for (const kind of ["pointerup", "pointercancel"]) {
  addEventListener(kind, (event) => {
    fingers.delete(event.pointerId);
    if (!fingers.size) stage.classList.remove("p-held");
  });
}

// A press that moved the drawing is no click.
function wasDrag() {
  const was = dragging;
  dragging = false;
  return was;
}

by("p-in").addEventListener("click", () => { gently(); zoom(1.3); });
by("p-out").addEventListener("click", () => { gently(); zoom(1 / 1.3); });
by("p-level").addEventListener("click", () => { gently(); zoom(1 / view.k); });
by("p-fit").addEventListener("click", () => { gently(); fit(); });

// A window that gets its size late, or another one, shows what a new one would: until one moves.
new ResizeObserver(() => {
  if (untouched) open();
  else bounded();
  show();
  if (inFocus >= 0) reveal(inFocus);
}).observe(stage);
