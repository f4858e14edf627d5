// Elements. Text of the graph becomes text, never markup.
const SVG = "http://www.w3.org/2000/svg";

function h(tag, looks, ...inside) {
  const element = document.createElement(tag);
  if (looks) element.className = looks;
  element.append(...inside.flat().filter((item) => item !== null && item !== undefined && item !== ""));
  return element;
}

// A text of the graph; which way it is written does not change what is around it.
function words(text, looks) {
  const element = h("bdi", looks);
  element.textContent = text;
  return element;
}

function button(text, action, looks = "p-go") {
  const element = h("button", looks, typeof text === "string" ? words(text) : text);
  element.type = "button";
  element.addEventListener("click", action);
  return element;
}

// The sign of a kind, in its colours.
function sign(look) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", `p-sign ${look}`);
  picture.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#p-sign-${look}`);
  use.setAttribute("class", "icon");
  picture.append(use);
  return picture;
}

function section(head, ...inside) {
  const found = inside.flat().filter(Boolean);
  return found.length ? h("section", "", h("h3", "", head), found) : null;
}

function messages(list) {
  return list.map(([level, text]) =>
    h("p", `p-message p-${level}`, h("b", "", level), " ", words(text)));
}
