// The page of `rag serve`. Documents are hostile: their text becomes text nodes, never mark-up.
"use strict";

const $ = (id) => document.getElementById(id);
const CLAUSES = {
  title: "heading",
  phrase: "phrase",
  words: "words",
  fuzzy: "corrected words",
  file_name: "file name",
  likely_words: "likely words, other language",
  vector: "meaning",
  feedback: "words of the best results",
  language: "your language",
  recency: "recent",
  tag: "preferred tag",
};
const SNIPPET = 320; // code points
const state = { query: "", results: [], ticket: 0, asking: null, viewer: null, shown: null };

// ---- building elements -------------------------------------------------------------------------

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const percent = (share) => `${Math.round(100 * share)} %`;
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const pages = (place) =>
  place.page_start === place.page_end
    ? `page ${place.page_start}`
    : `page ${place.page} of ${place.page_start}–${place.page_end}`;
const nameOf = (detail) => CLAUSES[detail.clause] || detail.clause;
const classOf = (detail) => (detail.clause in CLAUSES ? `c-${detail.clause}` : "c-words");

// ---- asking the server -------------------------------------------------------------------------

class ProblemError extends Error {
  constructor(problem) {
    super([problem.title, problem.next_step].filter(Boolean).join("; "));
    this.title = problem.title;
    this.details = problem.errors || [];
    this.status = problem.status;
  }
}

async function request(path, options = {}) {
  for (let tries = 0; ; tries += 1) {
    const token = sessionStorage.getItem("token");
    const headers = { ...options.headers };
    if (token) headers.Authorization = `Bearer ${token}`;
    let response;
    try {
      response = await fetch(path, { ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ProblemError({ title: "the server cannot be reached", next_step: "is `rag serve` running?" });
    }
    if (response.ok) return response;
    if (response.status === 401 && tries < 5 && (await askForToken(Boolean(token)))) continue;
    const problem = await response.json().catch(() => ({ title: response.statusText }));
    throw new ProblemError({ status: response.status, ...problem });
  }
}

const getJson = async (path) => (await request(path)).json();
const post = (path, body, signal) =>
  request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

let tokenAsked = null; // one dialog, however many requests wait for it

function askForToken(wasWrong) {
  tokenAsked ||= new Promise((resolve) => {
    if (wasWrong) $("token-text").textContent = "That token is not known. Try another one.";
    const dialog = $("token-dialog");
    $("token").value = "";
    dialog.addEventListener(
      "close",
      () => {
        tokenAsked = null;
        const token = $("token").value.trim();
        if (token) sessionStorage.setItem("token", token);
        resolve(Boolean(token));
      },
      { once: true },
    );
    dialog.showModal();
  });
  return tokenAsked;
}

// ---- text with marks ---------------------------------------------------------------------------

// Marks are places of code points; a string's own places are of UTF-16 units.
function marked(points, start, end, marks) {
  const parts = [];
  let at = start;
  for (const [from, to] of marks) {
    if (to <= start || from >= end) continue;
    if (from > at) parts.push(points.slice(at, from).join(""));
    parts.push(h("mark", {}, points.slice(Math.max(from, at), Math.min(to, end)).join("")));
    at = Math.min(to, end);
  }
  if (at < end) parts.push(points.slice(at, end).join(""));
  return parts;
}

// The part of a text with most marks in it, on one line.
function snippet(content, marks) {
  const points = Array.from(content);
  let best = 0;
  let most = -1;
  for (const [from] of marks) {
    const near = marks.filter(([one]) => one >= from && one < from + SNIPPET * 0.75);
    // A code is asked for itself.
    const count = near.reduce((sum, [a, b]) => sum + (/\d/.test(points.slice(a, b).join("")) ? 4 : 1), 0);
    if (count > most) [best, most] = [from, count];
  }
  let start = Math.max(0, best - 60);
  if (start > 0) while (start < best && !/\s/.test(points[start])) start += 1;
  if (points.length <= SNIPPET) start = 0;
  let end = Math.min(points.length, start + SNIPPET);
  if (end < points.length) while (end > start + 40 && !/\s/.test(points[end])) end -= 1;
  const shown = points.map((point) => (point === "|" ? "·" : /\s/.test(point) ? " " : point));
  const parts = marked(shown, start, end, marks).map((part) =>
    typeof part === "string" ? part.replace(/(·|\s|-{3,}|:-+|-+:)*·(·|\s|-{3,})*/g, " · ").replace(/ {2,}/g, " ") : part,
  );
  return [start > 0 ? "… " : null, ...parts, end < points.length ? " …" : null];
}

// A chunk's text: paragraphs, and tables where lines are rows of a pipe table.
function passageOf(content, marks) {
  const points = Array.from(content);
  const blocks = [];
  let rows = [];
  const endTable = () => {
    if (rows.length) blocks.push(h("div", { class: "table" }, h("table", {}, h("tbody", {}, ...rows))));
    rows = [];
  };
  let start = 0;
  while (start <= points.length) {
    let end = points.indexOf("\n", start);
    if (end < 0) end = points.length;
    const line = points.slice(start, end).join("");
    if (line.startsWith("|") && line.trimEnd().endsWith("|")) {
      if (!/^\|[-:| ]+\|?\s*$/.test(line)) rows.push(rowOf(points, start, end, marks, rows.length === 0));
    } else {
      endTable();
      if (line.trim()) blocks.push(h("p", {}, ...marked(points, start, end, marks)));
    }
    start = end + 1;
  }
  endTable();
  return blocks;
}

function rowOf(points, start, end, marks, isFirst) {
  const cells = [];
  let from = start + 1;
  for (let at = from; at < end; at += 1) {
    if (points[at] !== "|" || points[at - 1] === "\\") continue;
    cells.push(h(isFirst ? "th" : "td", {}, ...marked(points, from, at, marks)));
    from = at + 1;
  }
  return h("tr", {}, ...cells);
}

function trailOf(trail) {
  if (!trail) return ["no heading"];
  const steps = trail.split(" > ");
  const last = steps.pop();
  return [...steps.map((step) => h("span", { class: "step" }, `${step} › `)), last];
}

// ---- search ------------------------------------------------------------------------------------

const FILTERS = ["document", "language", "tag", "first", "last", "weights", "limit"];

function filtersGiven() {
  const given = {};
  for (const name of FILTERS) {
    const value = $(`filter-${name}`).value.trim();
    if (value) given[name] = value;
  }
  return given;
}

// What is wrong with the filters, in plain words; "" if nothing is.
function wrongFilters() {
  const [first, last] = [$("filter-first"), $("filter-last")];
  const bad = [first, last].find((one) => !one.validity.valid);
  if (bad) return `“${labelOf(bad)}” takes a whole number from 1 to 1,000,000.`;
  if (first.value && last.value && Number(first.value) > Number(last.value)) {
    return `“From page” (${first.value}) is greater than “To page” (${last.value}).`;
  }
  return "";
}

const labelOf = (control) => control.labels[0].firstChild.textContent.trim();
const FIELDS = { documents: "document", languages: "language", tags: "tag", first_page: "first", last_page: "last",
  weights: "weights", limit: "limit" };

// The server names its fields; the page has labels for them.
function inWords(detail) {
  const [path, ...rest] = detail.split(": ");
  const field = path.split(".").find((one) => one in FIELDS);
  const name = field ? labelOf($(`filter-${FIELDS[field]}`)) : path.endsWith("query") || path.endsWith("question") ? "The query" : path;
  return `${name}: ${rest.join(": ")}`;
}

function said(error) {
  return error.details?.length ? error.details.map(inWords).join("; ") : error.message;
}

function filtersRequest(given) {
  const filters = {};
  if (given.document) filters.documents = [given.document];
  if (given.language) filters.languages = [given.language];
  if (given.tag) filters.tags = [given.tag];
  if (given.first) filters.first_page = Number(given.first);
  if (given.last) filters.last_page = Number(given.last);
  return filters;
}

function searchRequest(query, given) {
  const body = { query, filters: filtersRequest(given) };
  if (given.limit) body.limit = Number(given.limit);
  if (given.weights) {
    const [text, vector] = given.weights.split(",").map(Number);
    body.weights = { text, vector };
  }
  return body;
}

function say(text, isBad = false) {
  const status = $("search-status");
  status.textContent = text;
  status.classList.toggle("bad", isBad);
}

async function search(query) {
  const ticket = (state.ticket += 1);
  state.query = query;
  const wrong = wrongFilters();
  if (wrong) {
    fill($("results"));
    $("filters").open = true;
    say(wrong, true);
  }
  if (!query || wrong) return;
  say("Searching …");
  try {
    const reply = await (await post("/api/search", searchRequest(query, filtersGiven()))).json();
    if (ticket === state.ticket) showResults(reply);
  } catch (error) {
    if (ticket !== state.ticket) return;
    fill($("results"));
    say(said(error), true);
  }
}

function showResults(reply) {
  state.results = reply.results;
  const seconds = Object.values(reply.seconds).reduce((sum, one) => sum + one, 0);
  const meant = new Map();
  for (const { typed, found } of reply.corrections) {
    meant.set(typed, [...(meant.get(typed) || []), found]);
  }
  const said = [
    reply.results.length && !reply.is_found ? "Nothing found that answers this; the nearest texts follow" : "",
    reply.results.length ? `${counted(reply.results.length, "result")} in ${Math.round(1000 * seconds)} ms` : "",
    ...[...meant].map(([typed, found]) => `searched for ${found.join(", ")} instead of “${typed}”`),
    reply.feedback.length ? `little of it was found; searched for words of the best results, too: ${reply.feedback.join(", ")}` : "",
    ...reply.notes,
  ];
  say(said.filter(Boolean).join(" · "));
  // The longest bar is as long as the best result is relevant.
  const scores = reply.results.map((one) => one.score / Math.max(0.05, reply.results[0].relevance));
  const best = Math.max(...scores, 1e-9);
  fill($("results"), ...reply.results.map((one) => resultOf(one, best)));
}

function resultOf(result, best) {
  const details = result.details.filter((one) => one.contribution > 0);
  const why = h("div", { class: "why", hidden: true });
  const toggle = h(
    "button",
    { type: "button", class: "link", "aria-expanded": "false", onclick: () => {
      why.hidden = !why.hidden;
      toggle.setAttribute("aria-expanded", String(!why.hidden));
      if (!why.firstChild) why.append(scoreTable(result));
    } },
    "Why?",
  );
  const shares = details.map((one) => `${percent(one.contribution / result.score)} ${nameOf(one)}`);
  const bar = h("div", {
    class: "bar", role: "img", "aria-label": `Score ${result.score.toFixed(4)}: ${shares.join(", ")}`,
  });
  for (const one of details) {
    const part = h("i", { class: classOf(one), title: `${nameOf(one)}: ${one.contribution.toFixed(5)}` });
    part.dataset.share = String(one.contribution / result.score);
    part.style.width = `${(100 * one.contribution) / best}%`;
    bar.append(part);
  }
  return h(
    "li",
    { class: "result" },
    h("h3", {}, h("button", { type: "button", class: "open", lang: result.language, onclick: () =>
      openPassage(result, state.query) }, ...trailOf(result.breadcrumb_trail))),
    h("p", { class: "place" },
      `${result.document} · ${pages(result)} · relevance ${percent(result.relevance)}`,
      result.tags.length ? ` · ${result.tags.join(", ")}` : null),
    h("p", { class: "snippet", lang: result.language }, ...snippet(result.content, result.marks)),
    h("div", { class: "score" }, bar, toggle,
      h("ul", { class: "legend" }, ...details.map((one, index) =>
        h("li", {}, h("i", { class: classOf(one) }), shares[index])))),
    why,
  );
}

function scoreTable(result) {
  const cell = (value, digits) => h("td", { class: "n" }, value.toFixed(digits));
  const body = result.details.map((one) =>
    h("tr", {}, h("td", {}, one.leg), h("td", {}, nameOf(one)), cell(one.raw_score, 4), cell(one.rank, 0),
      h("td", { class: "n" }, String(Number(one.weight.toFixed(3)))), cell(one.contribution, 5)));
  body.push(h("tr", {}, h("td", {}, "sum"), h("td"), h("td"), h("td"), h("td"), cell(result.score, 5)));
  const head = ["leg", "clause", "raw score", "rank", "weight", "contribution"];
  return h("table", {},
    h("thead", {}, h("tr", {}, ...head.map((name, index) => h("th", { scope: "col", class: index > 1 ? "n" : null }, name)))),
    h("tbody", {}, ...body));
}

// ---- answers -----------------------------------------------------------------------------------

async function ask(question) {
  state.asking?.abort();
  const asking = (state.asking = new AbortController());
  const text = h("p", { class: "text waiting" });
  fill($("answer"), h("h2", {}, "Answer"), text).hidden = false;
  try {
    const body = { question, filters: filtersRequest(filtersGiven()) };
    const response = await post("/api/ask/stream", body, asking.signal);
    for await (const [name, value] of eventsOf(response)) {
      if (name === "piece") text.append(value);
      else if (name === "problem") throw new ProblemError(value);
      else {
        showAnswer(value);
        return;
      }
    }
    throw new ProblemError({ title: "the answer broke off", next_step: "ask again" });
  } catch (error) {
    if (error.name === "AbortError") return;
    text.classList.remove("waiting");
    const isOurs = error instanceof ProblemError; // else the line was cut
    $("answer").append(h("p", { class: "doubt" }, isOurs ? said(error) : "the answer broke off; ask again"));
  }
}

async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const lines = held.slice(0, end).split("\n");
      held = held.slice(end + 2);
      const of = (field) => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
      if (of("data") !== undefined) yield [of("event"), JSON.parse(of("data"))];
    }
  }
}

function showAnswer(answer) {
  const byNumber = new Map(answer.citations.map((one) => [one.number, one]));
  const kinds = {
    chat: `Answer by ${answer.model || "the chat model"}`,
    extractive: "Sentences of the documents, word for word",
    computed: `Computed over ${answer.computation?.source}`,
  };
  const titles = { answered: kinds[answer.kind], not_found: "Not in the documents", refused: "No answer", cut: kinds[answer.kind] };
  fill(
    $("answer"),
    h("h2", {}, titles[answer.status]),
    h("p", { class: "text" }, ...withCitations(answer.text, byNumber)),
    answer.computation ? h("pre", {}, answer.computation.sql) : null,
    ...answer.problems.map((one) => h("p", { class: "doubt" }, `Doubtful: ${one}`)),
    answer.citations.length
      ? h("ol", { class: "citations" }, ...answer.citations.map((one) =>
          h("li", {}, citationButton(one, String(one.number)), " ",
            h("button", { type: "button", class: "open", onclick: () => openCitation(one) },
              `${one.document}, ${pages(one)}`),
            one.breadcrumb_trail ? h("span", { class: "note" }, `  ${one.breadcrumb_trail}`) : null)))
      : null,
    ...answer.notes.map((one) => h("p", { class: "note" }, one)),
  );
}

// Markers: [2] of an extractive answer; [c2] or [c1, c2] of a model's.
function withCitations(text, byNumber) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(/[[【(]\s*((?:c?\d{1,3})(?:\s*[,;]\s*c?\d{1,3})*)\s*[\]】)]/gi)) {
    const numbers = [...match[1].matchAll(/\d+/g)].map(Number);
    const isOurs = /c/i.test(match[1]) || match[0].startsWith("[") || match[0].startsWith("【");
    if (!isOurs || !numbers.every((one) => byNumber.has(one))) continue;
    parts.push(text.slice(at, match.index), ...numbers.map((one) => citationButton(byNumber.get(one), String(one))));
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

function citationButton(citation, label) {
  return h("button", {
    type: "button", class: "cite", "aria-label": `Citation ${label}: ${citation.document}, ${pages(citation)}`,
    title: `${citation.document}, ${pages(citation)}`, onclick: () => openCitation(citation),
  }, label);
}

async function openCitation(citation) {
  if (!citation.source_hash) return;
  const known = state.results.find((one) => one.chunk_id === citation.chunk_id);
  const place = { content: "", marks: [], ...known, ...citation };
  openPassage(place, state.query);
  if (known) return;
  try {
    const path = `/api/sections/${citation.source_hash}?chunk_id=${citation.chunk_id}`;
    place.content = (await getJson(path)).chunks[0].content;
  } catch (error) {
    place.note = error.message;
  }
  if (state.viewer?.place === place) showPassage(place);
}

// ---- a page with its boxes, at an address of its own --------------------------------------------

// What is open can be sent to others: #/view/HASH?page=3&chunk=25&q=oil+filter. Back leaves it.
function viewerAddress() {
  const { place, page, query } = state.viewer;
  const parameters = new URLSearchParams({ page: String(page) });
  if (place.section) parameters.set("section", place.section);
  else if (place.chunk_id) parameters.set("chunk", String(place.chunk_id));
  if (query) parameters.set("q", query);
  return `#/view/${place.source_hash}?${parameters}`;
}

function openPassage(place, query) {
  showViewer(place, query, place.page || place.regions[0]?.page || place.page_start);
  history.pushState({ isInside: true }, "", viewerAddress());
}

async function openAddress(sourceHash, parameters) {
  const address = location.hash;
  if (state.viewer && viewerAddress() === address) return;
  const [page, chunk, section] = ["page", "chunk", "section"].map((name) => parameters.get(name));
  try {
    const outline = await getJson(`/api/outline/${encodeURIComponent(sourceHash)}`);
    const shown = Math.max(1, Math.trunc(Number(page)) || 1);
    const place = section ? await sectionPlace(outline, section, shown) : await chunkPlace(outline, chunk, shown);
    if (location.hash === address) showViewer(place, parameters.get("q") || "", shown);
  } catch (error) {
    if (location.hash === address) say(`This link cannot be opened: ${error.message}`, true);
  }
}

function placeIn(outline, page) {
  return { document: outline.document, source_hash: outline.source_hash, language: outline.language, section: "",
    breadcrumb_trail: "", page, page_start: page, page_end: page, regions: [], content: "", marks: [], chunk_id: 0 };
}

async function chunkPlace(outline, chunkId, page) {
  const place = placeIn(outline, page);
  if (!chunkId) return place;
  try {
    const path = `/api/sections/${outline.source_hash}?chunk_id=${encodeURIComponent(chunkId)}`;
    return Object.assign(place, (await getJson(path)).chunks[0]);
  } catch (error) {
    if (error.status !== 404 && error.status !== 422) throw error;
    place.note = "The passage of this link no longer exists, because the document was read again; its page is shown.";
    return place;
  }
}

async function sectionPlace(outline, trail, page) {
  const place = placeIn(outline, page);
  place.section = place.breadcrumb_trail = trail;
  try {
    const section = await getJson(`/api/sections/${outline.source_hash}?section=${encodeURIComponent(trail)}`);
    Object.assign(place, section.chunks[0], { regions: section.chunks.flatMap((chunk) => chunk.regions),
      content: section.chunks.map((chunk) => chunk.content).join("\n\n"), page_start: section.page_start, page_end: section.page_end });
    place.breadcrumb_trail = trail;
  } catch {
    // A heading without text of its own: the page is shown.
  }
  return place;
}

function showViewer(place, query, page) {
  forgetPicture();
  state.viewer = { place, query, page, about: null, url: null, ticket: 0 };
  fill($("sheet"));
  showPassage(place);
  if (!$("viewer").open) $("viewer").showModal();
  $("sheet").focus();
  showPage(page);
}

function showPassage(place) {
  fill($("viewer-title"), place.document);
  fill($("passage"), place.chunk_id ? h("h3", { lang: place.language }, ...trailOf(place.breadcrumb_trail)) : null,
    place.chunk_id ? h("p", { class: "place" }, `${pages(place)} · chunk ${place.chunk_id}`) : null,
    place.note ? h("p", { class: "doubt" }, place.note) : null,
    h("div", { lang: place.language }, ...passageOf(place.content, place.marks)));
  $("passage").hidden = !place.chunk_id && !place.note;
}

async function showPage(page) {
  const viewer = state.viewer;
  const ticket = (viewer.ticket += 1);
  viewer.page = page;
  showNumber(viewer);
  const { place, query } = viewer;
  const path = `/api/pages/${place.source_hash}/${page}`;
  $("viewer-file").href = `/api/files/${place.source_hash}#page=${page}`;
  const isCurrent = () => state.viewer === viewer && viewer.ticket === ticket;
  try {
    viewer.about ||= await getJson(`/api/outline/${place.source_hash}`);
    if (!isCurrent()) return;
    showNumber(viewer);
    if (!viewer.about.has_page_images) {
      showText(place, "This format has no pages to show. Its text:");
      return;
    }
    const width = Math.min(1600, Math.round(($("sheet").clientWidth || 800) * devicePixelRatio));
    const blob = await (await request(`${path}?width=${width}`)).blob();
    if (!isCurrent()) return;
    forgetPicture();
    viewer.url = URL.createObjectURL(blob);
    const image = h("img", { alt: `Page ${page} of ${place.document}`, src: viewer.url });
    await image.decode();
    if (!isCurrent()) return;
    const regions = place.regions.filter((one) => one.page === page);
    const paper = h("div", { class: "paper" }, image, ...regions.map((one) => boxOf(one, "box")));
    fill($("sheet"), paper);
    scrollToFirst(paper);
    if (query && regions.length) await markWords(paper, path, query, regions, isCurrent);
  } catch (error) {
    if (isCurrent()) showText(place, place.content ? `The page cannot be shown: ${error.message}. The passage:` : error.message);
  }
}

function showNumber(viewer) {
  const last = viewer.about?.pages;
  const hasPages = viewer.about?.has_page_images !== false;
  $("page-number").textContent = !hasPages ? "" : last ? `page ${viewer.page} of ${last}` : `page ${viewer.page}`;
  $("page-before").hidden = $("page-after").hidden = !hasPages;
  $("page-before").disabled = viewer.page <= 1;
  $("page-after").disabled = Boolean(last) && viewer.page >= last;
}

function forgetPicture() {
  if (state.viewer?.url) URL.revokeObjectURL(state.viewer.url);
}

// A format without pages, or a file that is gone: its text alone.
function showText(place, said) {
  fill($("sheet"), h("div", { class: "plain", lang: place.language }, h("p", { class: "status" }, said),
    ...passageOf(place.content, place.marks)));
  $("passage").hidden = !place.note;
}

function boxOf(region, kind) {
  const box = h("div", { class: kind });
  box.style.left = `${100 * region.x0}%`;
  box.style.top = `${100 * region.y0}%`;
  box.style.width = `${100 * (region.x1 - region.x0)}%`;
  box.style.height = `${100 * (region.y1 - region.y0)}%`;
  return box;
}

function scrollToFirst(paper) {
  const first = paper.querySelector(".box");
  const sheet = $("sheet");
  const scroller = sheet.scrollHeight > sheet.clientHeight + 1 ? sheet : sheet.parentElement;
  scroller.scrollTop = first ? Math.max(0, first.offsetTop - 90) : 0;
}

async function markWords(paper, path, query, regions, isCurrent) {
  const { words } = await getJson(`${path}/words?q=${encodeURIComponent(query.slice(0, 1000))}`);
  if (!isCurrent()) return;
  const isInside = (word) => regions.some((one) => {
    const x = (word.x0 + word.x1) / 2;
    const y = (word.y0 + word.y1) / 2;
    return x >= one.x0 && x <= one.x1 && y >= one.y0 && y <= one.y1;
  });
  paper.append(...words.filter((word) => word.is_hit && isInside(word)).map((word) => boxOf(word, "hit")));
}

function turn(by) {
  const viewer = state.viewer;
  const page = viewer.page + by;
  if (page < 1 || viewer.about?.has_page_images === false || page > (viewer.about?.pages ?? Infinity)) return;
  showPage(page);
  history.replaceState(history.state, "", viewerAddress());
}

// The address says already that nothing is open.
function closeViewer() {
  if (!state.viewer) return;
  forgetPicture();
  state.viewer = null;
  fill($("sheet"));
  $("viewer").close();
}

function leaveViewer() {
  if (history.state?.isInside) {
    history.back();
    return;
  }
  const { query } = state.viewer;
  history.replaceState(null, "", query ? `#/search?${new URLSearchParams({ q: query })}` : "#/search");
  follow();
}

// With a token, the link alone would be refused.
async function openFile(event) {
  if (!sessionStorage.getItem("token")) return;
  event.preventDefault();
  const { place, page } = state.viewer;
  try {
    const blob = await (await request(`/api/files/${place.source_hash}`)).blob();
    const url = URL.createObjectURL(blob);
    const isPdf = blob.type === "application/pdf";
    h("a", isPdf ? { href: `${url}#page=${page}`, target: "_blank" } : { href: url, download: place.document }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) {
    if (state.viewer?.place === place) showText(place, `The file cannot be opened: ${error.message}`);
  }
}

$("viewer").addEventListener("close", () => {
  if (state.viewer && !$("viewer").open) leaveViewer();
});
$("viewer-close").addEventListener("click", () => $("viewer").close());
$("viewer-file").addEventListener("click", openFile);
$("page-before").addEventListener("click", () => turn(-1));
$("page-after").addEventListener("click", () => turn(1));

// ---- sources -----------------------------------------------------------------------------------

async function showSources(status = "", name = "", offset = 0) {
  const view = $("sources-view");
  const query = new URLSearchParams({ limit: "100", offset: String(offset) });
  if (status) query.set("status", status);
  if (name) query.set("name", name);
  let found;
  try {
    found = await getJson(`/api/sources?${query}`);
  } catch (error) {
    fill(view, h("p", { class: "status bad" }, error.message));
    return;
  }
  const { counts } = found;
  const numbers = [["documents", counts.documents], ["ready", counts.ready], ["failed", counts.failed],
    ["waiting for a sync", found.waiting], ["pages", counts.pages], ["chunks", counts.chunks]];
  const select = h("select", { "aria-label": "Status", onchange: () => showSources(select.value, field.value.trim()) },
    ...["", "ready", "failed", "pending"].map((one) => h("option", { value: one, selected: one === status }, one || "any status")));
  const field = h("input", { type: "search", "aria-label": "Part of a name", placeholder: "part of a name", maxlength: 500, value: name,
    onchange: () => showSources(select.value, field.value.trim()) });
  const more = (text, to) => h("button", { type: "button", class: "second", onclick: () => showSources(status, name, to) }, text);
  fill(
    view,
    h("ul", { class: "counts", "aria-label": "Counts" }, ...numbers.filter(([, one]) => one !== null).map(([label, one]) =>
      h("li", { class: label === "failed" && one ? "bad" : null }, h("b", {}, one.toLocaleString("en")), h("span", {}, label)))),
    h("div", { class: "bar-form" }, field, select),
    found.documents.length ? null : h("p", { class: "status" }, counts.documents
      ? "No document passes." : "There are no documents yet: run `rag sync FOLDER`."),
    h("ul", { class: "documents", "aria-label": "Documents" }, ...found.documents.map(documentOf)),
    h("p", { class: "tools" }, offset > 0 ? more("Before", Math.max(0, offset - 100)) : null,
      offset + found.documents.length < found.total ? more("More", offset + 100) : null),
    found.folders.length ? h("p", { class: "note" }, `Folders: ${found.folders.join(", ")}`) : null,
  );
}

function documentOf(one) {
  const outline = h("ol", { class: "outline", hidden: true });
  const facts = [one.title, one.pages && counted(one.pages, "page"), counted(one.chunks, "chunk"), one.language, ...one.tags];
  const open = h("button", { type: "button", class: "open", "aria-expanded": "false", onclick: async () => {
    outline.hidden = !outline.hidden;
    open.setAttribute("aria-expanded", String(!outline.hidden));
    if (!outline.firstChild) await showOutline(outline, one);
  } }, one.document);
  return h("li", {},
    h("div", { class: "row" }, open, h("span", { class: `badge ${one.status}` }, one.status)),
    h("p", { class: "place" }, facts.filter(Boolean).join(" · ")),
    one.failure ? h("p", { class: "failure" }, `${one.failure} (tried ${one.tries === 1 ? "once" : `${one.tries} times`})`) : null,
    ...one.warnings.map((warning) => h("p", { class: "note" }, warning)),
    outline);
}

async function showOutline(list, one) {
  fill(list, h("li", { class: "note" }, "…"));
  try {
    const outline = await getJson(`/api/outline/${one.source_hash}`);
    const entries = outline.headings.map((heading) =>
      h("li", { class: `l${Math.min(4, heading.level)}` },
        h("button", { type: "button", class: "open", lang: outline.language, onclick: () => openHeading(outline, heading) }, heading.title),
        h("span", { class: "note" }, `  ${heading.page}`)));
    fill(list, ...(entries.length ? entries : [h("li", { class: "note" }, "no headings")]));
  } catch (error) {
    fill(list, h("li", { class: "failure" }, error.message));
  }
}

async function openHeading(outline, heading) {
  openPassage(await sectionPlace(outline, heading.breadcrumb_trail, heading.page), "");
}

// ---- evaluation --------------------------------------------------------------------------------

const MEASURES = ["recall@1", "recall@5", "recall@10", "precision@5", "hit@5", "MRR", "nDCG@10"];

async function showEvaluation() {
  const view = $("evaluation-view");
  let found;
  try {
    found = await getJson("/api/evaluation");
  } catch (error) {
    fill(view, h("p", { class: "status bad" }, error.message));
    return;
  }
  if (!found.is_there) {
    fill(view, h("p", { class: "status" }, "Nothing has been measured yet: run `rag eval QUESTIONS.jsonl`."));
    return;
  }
  const names = found.settings.map((one) => one.setting);
  const groups = Object.keys(found.settings[0].measures).filter((name) => name !== "all");
  const number = (value) => h("td", { class: "n" }, value.toFixed(3));
  const head = (first) => h("thead", {}, h("tr", {}, h("th", { scope: "col" }, first), ...names.map((name) => h("th", { scope: "col" }, name))));
  fill(
    view,
    h("p", { class: "status" }, `${found.questions_name}, ${counted(found.settings[0].questions, "question")}, ${new Date(found.made_at).toLocaleString()}`),
    h("div", { class: "panel" }, h("h3", {}, "Retrieval"), h("table", {}, head("measure"), h("tbody", {}, ...MEASURES.map((measure) =>
      h("tr", {}, h("th", { scope: "row" }, measure), ...found.settings.map((one) => h("td", {}, meter(one.measures.all[measure])))))))),
    Object.keys(found.thresholds).length ? h("div", { class: "panel" }, h("h3", {}, "Thresholds"), ...Object.entries(found.thresholds).map(([name, passed]) =>
      h("p", { class: `place ${passed ? "good" : "bad"}` }, `${passed ? "✓ passed" : "✗ failed"}: ${name}`))) : null,
    groups.length ? h("div", { class: "panel" }, h("h3", {}, "By kind and language (recall@5)"), h("table", {}, head("questions"), h("tbody", {}, ...groups.map((group) =>
      h("tr", {}, h("th", { scope: "row" }, group), ...found.settings.map((one) => number(one.measures[group]["recall@5"]))))))) : null,
    h("div", { class: "panel" }, h("h3", {}, "Latency, ms (median, 95 %)"), h("table", {}, head("stage"), h("tbody", {}, ...Object.keys(found.settings[0].latency_ms).map((stage) =>
      h("tr", {}, h("th", { scope: "row" }, stage), ...found.settings.map((one) => h("td", {}, one.latency_ms[stage] ? `${one.latency_ms[stage].p50.toFixed(0)}, ${one.latency_ms[stage].p95.toFixed(0)}` : "")))))) ),
    ...found.settings.filter((one) => one.misses.length).map((one) => h("details", { class: "panel" }, h("summary", {}, `Missed by ${one.setting}: ${one.misses.length}`),
      h("ul", {}, ...one.misses.map((miss) => h("li", {}, `${miss.id}: ${miss.rank === null ? "not found" : `rank ${miss.rank}`}`))))),
    found.has_report ? h("button", { type: "button", class: "second", onclick: saveReport }, "Save the whole report") : null,
  );
}

function meter(value) {
  const bar = h("i");
  bar.style.width = `${100 * value}%`;
  return h("span", {}, h("span", { class: "meter", "aria-hidden": "true" }, bar), value.toFixed(3));
}

async function saveReport() {
  const blob = await (await request("/api/evaluation/report")).blob();
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: "evaluation.html" });
  link.click();
  URL.revokeObjectURL(url);
}

// ---- views, addresses, keys --------------------------------------------------------------------

function place() {
  const [path, query] = location.hash.slice(1).split("?");
  const view = ["search", "sources", "evaluation"].find((one) => path === `/${one}`) || "search";
  const opened = path.match(/^\/view\/([0-9a-f]{8,64})$/)?.[1];
  return { view, opened, parameters: new URLSearchParams(query || "") };
}

function remember(mode) {
  const parameters = new URLSearchParams({ q: state.query, ...filtersGiven() });
  if (mode === "ask") parameters.set("ask", "1");
  const address = `#/search?${parameters}`;
  if (address !== location.hash) history.pushState(null, "", address);
  state.shown = address;
}

function start(mode) {
  const query = $("query").value.trim();
  if (!query) {
    $("query").focus();
    return;
  }
  state.query = query;
  remember(mode);
  begin(mode);
}

function begin(mode) {
  countFilters();
  state.asking?.abort();
  $("answer").hidden = true;
  if (mode === "ask" && !wrongFilters()) ask(state.query);
  search(state.query);
}

function countFilters() {
  const count = Object.keys(filtersGiven()).length;
  $("filter-count").textContent = count ? `(${count})` : "";
}

function follow() {
  const { view, opened, parameters } = place();
  if (opened) {
    if (state.shown === null) showView("search");
    openAddress(opened, parameters);
    return;
  }
  closeViewer();
  if (state.shown === location.hash) return; // it lay under the viewer all the time
  state.shown = location.hash;
  showView(view);
  if (view === "sources") showSources();
  else if (view === "evaluation") showEvaluation();
  else showSearch(parameters);
}

function showView(view) {
  for (const section of document.querySelectorAll("main > section")) section.hidden = section.dataset.view !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = { search: "Documents", sources: "Sources", evaluation: "Evaluation" }[view];
}

function showSearch(parameters) {
  const query = parameters.get("q") || "";
  state.query = query;
  $("query").value = query;
  for (const name of FILTERS) setFilter($(`filter-${name}`), parameters.get(name) || "");
  countFilters();
  // On a phone the keyboard would cover half of the page.
  if (matchMedia("(pointer: fine)").matches) $("query").focus();
  const lost = FILTERS.find((name) => parameters.get(name) && !$(`filter-${name}`).value);
  if (query && !lost) {
    begin(parameters.get("ask") ? "ask" : "search");
    return;
  }
  fill($("results"));
  $("answer").hidden = true;
  say(lost ? `“${labelOf($(`filter-${lost}`))}” takes a number; the address says “${parameters.get(lost)}”.` : "", Boolean(lost));
}

function setFilter(control, value) {
  // A select shows only what it has; the lists may still be on their way.
  if (control.tagName === "SELECT" && value && ![...control.options].some((one) => one.value === value)) {
    control.append(h("option", { value }, value));
  }
  control.value = value;
}

function inventory(counts) {
  if (!counts.documents) return "There are no documents yet: run `rag sync FOLDER`.";
  const failed = counts.failed ? `; ${counts.failed} could not be read, see Sources` : "";
  return `${counted(counts.ready, "document")}, ${counted(counts.pages, "page")} to search${failed}`;
}

async function offerFilters() {
  const isIdle = () => !state.query && !$("search-status").textContent;
  try {
    const found = await getJson("/api/sources?limit=1000");
    const add = (control, values) => control.append(...values
      .filter((value) => ![...control.options].some((one) => one.value === value))
      .map((value) => h("option", { value }, value)));
    add($("filter-language"), found.languages);
    add($("filter-tag"), found.tags);
    fill($("document-names"), ...found.documents.map((one) => h("option", { value: one.document })));
    if (isIdle()) say(inventory(found.counts));
  } catch (error) {
    if (isIdle()) say(error.message, true);
  }
}

$("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  start("search");
});
$("ask-button").addEventListener("click", () => start("ask"));
$("clear-filters").addEventListener("click", () => {
  for (const name of FILTERS) $(`filter-${name}`).value = "";
  countFilters();
  if (state.query) start("search");
});
for (const name of FILTERS) {
  $(`filter-${name}`).addEventListener("change", () => {
    countFilters();
    if (state.query) start("search");
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
  const isEmptyQuery = document.activeElement === $("query") && !$("query").value;
  if ($("viewer").open) {
    if (event.key === "ArrowLeft") turn(-1);
    else if (event.key === "ArrowRight") turn(1);
    else return;
    event.preventDefault();
  } else if (event.key === "/" && (!isTyping || isEmptyQuery) && !$("token-dialog").open) {
    event.preventDefault();
    if (place().view !== "search") location.hash = "#/search";
    $("query").focus();
    $("query").select();
  } else if (event.key === "Escape" && document.activeElement === $("query")) {
    $("query").blur();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (isTyping && document.activeElement !== $("query")) return;
    moveAmongResults(event);
  }
});

function moveAmongResults(event) {
  const all = [...document.querySelectorAll("#results .open")];
  if (!all.length || place().view !== "search") return;
  const at = all.findIndex((one) => one.closest("li").contains(document.activeElement));
  const next = event.key === "ArrowDown" ? at + 1 : at - 1;
  event.preventDefault();
  if (next < 0) $("query").focus();
  else all[Math.min(next, all.length - 1)].focus();
}

addEventListener("popstate", follow);
follow();
offerFilters();
