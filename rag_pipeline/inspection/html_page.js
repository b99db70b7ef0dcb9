"use strict";
// Text of the document reaches the page by textContent alone.
const SVG = "http://www.w3.org/2000/svg";
const { roles, chunks } = JSON.parse(document.getElementById("data").textContent);
const sections = [...document.querySelectorAll("main > section")];
const details = document.getElementById("details");
const pageInput = document.getElementById("page");
const hidden = new Set();
let selected = { blocks: new Set(), chunk: null };
let current = null;

function element(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function node(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function button(text, act) {
  const made = node("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

// Blocks -------------------------------------------------------------------------------------

const blocksOf = new WeakMap();

function pageBlocks(section) {
  if (!blocksOf.has(section)) {
    const rows = JSON.parse(section.querySelector("script[type='application/json']").textContent);
    const blocks = rows.map(([index, role, x0, y0, x1, y1, level, trail, rule]) => ({
      index, role: roles[role], box: [x0, y0, x1, y1], level, trail, rule,
      page: Number(section.id.slice(1)),
    }));
    blocksOf.set(section, new Map(blocks.map((block) => [block.index, block])));
  }
  return blocksOf.get(section);
}

function blockOf(line) {
  return pageBlocks(line.closest("section")).get(Number(line.id.slice(1)));
}

function chunksOf(line) {
  return line.dataset.chunks ? line.dataset.chunks.split(" ").map(Number) : [];
}

// Pictures -----------------------------------------------------------------------------------

// `space` lies between the words and the line around them, so that it cuts no letter.
function rectangle(view, [x0, y0, x1, y1], space, attributes) {
  return element("rect", {
    x: x0 * view.width - space, y: y0 * view.height - space,
    width: (x1 - x0) * view.width + 2 * space, height: (y1 - y0) * view.height + 2 * space,
    ...attributes,
  });
}

function build(section) {
  const svg = section.querySelector("svg");
  if (!svg || svg.firstChild) return;
  const view = svg.viewBox.baseVal;
  const source = section.querySelector("script[type='text/plain']");
  svg.append(element("image", {
    href: `data:${source.dataset.media};base64,${source.textContent}`,
    width: view.width, height: view.height,
  }));
  const blocks = [...pageBlocks(section).values()];
  for (const block of blocks) {
    const box = rectangle(view, block.box, view.width / 350, { class: `box r-${block.role}`, "data-block": block.index });
    box.append(element("title", {}, `${block.index} · ${block.role} · ${block.rule}`));
    svg.append(box);
  }
  svg.append(...bordersOf(section, view), ...orderOf(blocks, view));
  mark(section);
}

function bordersOf(section, view) {
  const page = Number(section.id.slice(1));
  const found = new Set([...section.querySelectorAll(".b")].flatMap(chunksOf));
  return [...found].flatMap((position) => chunks[position].boxes
    .filter((box) => box[0] === page)
    .map((box) => rectangle(view, box.slice(1), view.width / 160, {
      class: position % 2 ? "border odd" : "border", "data-chunk": position,
    })));
}

function orderOf(blocks, view) {
  const radius = view.width / 95;
  const places = blocks.map(({ box }) => [
    Math.max(radius, box[0] * view.width - 1.8 * radius), box[1] * view.height + radius,
  ]);
  const path = element("polyline", { class: "path", points: places.map((place) => place.join()).join(" ") });
  const numbers = blocks.flatMap((block, i) => {
    const [x, y] = places[i];
    const wide = String(block.index).length > 2 ? 1.5 : 1;
    const number = element("text", { class: "number", transform: `translate(${x} ${y}) scale(${radius})` }, String(block.index));
    return [element("ellipse", { class: "disc", cx: x, cy: y, rx: radius * wide, ry: radius }), number];
  });
  return [path, ...numbers];
}

function clear(section) {
  section.querySelector("svg")?.replaceChildren();
}

const nearby = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) (isIntersecting ? build : clear)(target);
}, { rootMargin: "120% 0px" });

// Selection ----------------------------------------------------------------------------------

function mark(section) {
  for (const line of section.querySelectorAll(".b")) {
    line.classList.toggle("on", selected.blocks.has(Number(line.id.slice(1))));
  }
  for (const box of section.querySelectorAll(".box")) {
    box.classList.toggle("on", selected.blocks.has(Number(box.dataset.block)));
    box.classList.toggle("off", hidden.has(blockRole(box)));
  }
  for (const border of section.querySelectorAll(".border")) {
    border.classList.toggle("on", Number(border.dataset.chunk) === selected.chunk);
  }
}

function blockRole(box) {
  return box.getAttribute("class").match(/r-(\w+)/)[1];
}

function markAll() {
  for (const section of sections) {
    if (section.querySelector(".on") || section.querySelector("svg > *") || holdsSelected(section)) mark(section);
  }
  for (const item of document.querySelectorAll("#chunks li")) {
    item.classList.toggle("on", Number(item.dataset.chunk) === selected.chunk);
  }
}

function holdsSelected(section) {
  for (const index of selected.blocks) if (document.getElementById(`b${index}`)?.closest("section") === section) return true;
  return false;
}

function show(...content) {
  const close = button("×", close_);
  close.className = "close";
  close.setAttribute("aria-label", "close");
  details.replaceChildren(close, ...content);
  details.hidden = false;
  details.scrollTop = 0;
}

function close_() {
  details.hidden = true;
  selected = { blocks: new Set(), chunk: null };
  markAll();
}

function selectBlock(index, from) {
  const line = document.getElementById(`b${index}`);
  const block = blockOf(line);
  selected = { blocks: new Set([index]), chunk: null };
  markAll();
  const level = block.level ? `, level ${block.level}` : "";
  show(
    node("h3", `Block ${index}: ${block.role.replace("_", " ")}${level}`),
    node("p", block.trail),
    node("p", `page ${block.page}; ${block.rule}`, "note"),
    ...chunksOf(line).map((position) => button(`chunk ${chunks[position].number}`, () => selectChunk(position))),
  );
  if (from !== "text") line.scrollIntoView({ block: "nearest" });
}

function selectChunk(position) {
  const chunk = chunks[position];
  selected = { blocks: new Set(chunk.blocks), chunk: position };
  markAll();
  const pages = chunk.first === chunk.last ? `page ${chunk.first}` : `pages ${chunk.first}–${chunk.last}`;
  show(
    node("h3", `Chunk ${chunk.number}: ${chunk.kind}`),
    node("p", chunk.trail),
    node("p", `${pages}, ${chunk.tokens} tokens, ${chunk.blocks.length} blocks`, "note"),
    button("previous", () => selectChunk(Math.max(0, position - 1))),
    button("next", () => selectChunk(Math.min(chunks.length - 1, position + 1))),
    node("pre", chunk.content),
  );
  const first = chunk.blocks.length ? document.getElementById(`b${chunk.blocks[0]}`) : document.getElementById(`p${chunk.first}`);
  reveal(first);
  document.querySelector(`#chunks li[data-chunk="${position}"]`)?.scrollIntoView({ block: "nearest" });
}

function reveal(target) {
  const { top, bottom } = target.getBoundingClientRect();
  if (top < 110 || bottom > innerHeight * 0.55) {
    target.scrollIntoView({ block: "start" });
    // Pages on the way get their true height only now.
    requestAnimationFrame(() => target.scrollIntoView({ block: "start" }));
  }
}

// Pages --------------------------------------------------------------------------------------

function currentPage() {
  const top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 5;
  let low = 0;
  let high = sections.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sections[middle].getBoundingClientRect().top <= top) low = middle;
    else high = middle - 1;
  }
  return low;
}

function goTo(place) {
  const section = sections[Math.min(sections.length - 1, Math.max(0, place))];
  section.scrollIntoView({ block: "start" });
  requestAnimationFrame(() => section.scrollIntoView({ block: "start" }));
}

function follow() {
  const place = currentPage();
  if (place === current) return;
  current = place;
  if (document.activeElement !== pageInput) pageInput.value = sections[place].id.slice(1);
}

// Start --------------------------------------------------------------------------------------

function listChunks() {
  const list = document.querySelector("#chunks ol");
  chunks.forEach((chunk, position) => {
    const item = node("li", "", position % 2 ? "odd" : "");
    item.dataset.chunk = position;
    const made = button("", () => selectChunk(position));
    made.append(
      node("small", `${chunk.number} · ${chunk.kind} · ${chunk.tokens} tokens · page ${chunk.first} `),
      document.createElement("br"),
      chunk.trail || chunk.content.slice(0, 60),
    );
    item.append(made);
    list.append(item);
  });
}

function labelBlocks() {
  // Also outside of what is laid out: the browser's own search sees only the document's text.
  const begun = new Set();
  for (const line of document.querySelectorAll(".b")) {
    line.dataset.number = line.id.slice(1);
    for (const position of chunksOf(line)) {
      if (begun.has(position)) continue;
      begun.add(position);
      const chunk = chunks[position];
      const label = button(`chunk ${chunk.number} · ${chunk.kind} · ${chunk.tokens} tokens`, () => selectChunk(position));
      label.className = "begins";
      line.before(label);
    }
  }
}

document.querySelector("main").addEventListener("click", (event) => {
  if (String(getSelection())) return;
  const box = event.target.closest(".box");
  const line = event.target.closest(".b");
  if (box) selectBlock(Number(box.dataset.block), "box");
  else if (line) selectBlock(Number(line.id.slice(1)), "text");
});

document.querySelector(".switches").addEventListener("change", ({ target }) => {
  if (target.dataset.switch) document.body.classList.toggle(target.dataset.switch, target.checked);
  if (target.dataset.switch === "chunks" && target.checked && !document.querySelector(".begins")) labelBlocks();
  if (target.dataset.switch === "order" && !document.querySelector("[data-number]")) {
    for (const line of document.querySelectorAll(".b")) line.dataset.number = line.id.slice(1);
  }
  if (target.dataset.role) {
    hidden[target.checked ? "delete" : "add"](target.dataset.role);
    for (const line of document.querySelectorAll(`.b.r-${target.dataset.role}`)) line.classList.toggle("off", !target.checked);
    markAll();
  }
});

document.getElementById("chunks").addEventListener("toggle", ({ target }) => {
  if (target.open && !target.querySelector("li")) listChunks();
});

pageInput.addEventListener("change", () => {
  const place = sections.findIndex((section) => section.id === `p${pageInput.value}`);
  if (place >= 0) goTo(place);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    close_();
    document.activeElement?.blur();
    return;
  }
  if (event.target.matches("input[type=number]")) return;
  const last = chunks.length - 1;
  const keys = {
    j: () => goTo(currentPage() + 1),
    k: () => goTo(currentPage() - 1),
    ArrowRight: () => goTo(currentPage() + 1),
    ArrowLeft: () => goTo(currentPage() - 1),
    n: () => last >= 0 && selectChunk(selected.chunk === null ? 0 : Math.min(last, selected.chunk + 1)),
    p: () => last >= 0 && selectChunk(Math.max(0, (selected.chunk ?? 0) - 1)),
  };
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
new ResizeObserver(([{ target }]) => {
  document.documentElement.style.setProperty("--header", `${target.offsetHeight}px`);
}).observe(document.querySelector("header"));
pageInput.max = sections.length;
for (const section of sections) nearby.observe(section);
follow();
