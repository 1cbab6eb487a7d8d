"use strict";
(function () {
  // All text comes from data blocks and enters the page through textContent: it is never read as HTML.
  const $ = (id) => document.getElementById(id);
  const read = (id) => JSON.parse($(id).textContent);
  const glyphs = { succeeded: "●", failed: "✕", inconclusive: "?", excluded: "⊘", "not-run": "–", broken: "!" };
  const PAGE = 50;

  function el(tag, cls, text) {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined && text !== null) e.textContent = text;
    return e;
  }
  function add(parent, ...children) {
    for (const c of children) if (c) parent.append(c);
    return parent;
  }
  // A class of the page's own, or none: a trial's word must not pick a style.
  const known = ["pass", "fail", "timeout", "inconclusive", "skipped", "ok", "error", "denied", "rejected", "aborted", "unfinished"];
  const mark = (v) => el("span", "mark " + (known.includes(v) ? v : ""), v === "" ? "—" : v);
  const secs = (s) => s === null ? "—" : s < 10 ? s.toFixed(1) + " s" : s < 120 ? Math.round(s) + " s" : Math.floor(s / 60) + " min " + Math.round(s % 60) + " s";
  const count = (n) => n === null ? "—" : n.toLocaleString("en");

  const rows = read("trial-rows");
  let shown = rows.map((_, i) => i), page = 0, chosen = -1;

  // --- the list ---
  function options(id, values) {
    for (const v of [...new Set(values)]) {
      const o = el("option", "", v);
      o.value = v;
      $(id).append(o);
    }
  }
  options("f-task", rows.map((r) => r.task));
  options("f-configuration", rows.map((r) => r.configuration));
  options("f-place", rows.map((r) => r.label));

  function filter() {
    const task = $("f-task").value, configuration = $("f-configuration").value, label = $("f-place").value;
    shown = [];
    rows.forEach((r, i) => {
      if ((!task || r.task === task) && (!configuration || r.configuration === configuration) && (!label || r.label === label)) shown.push(i);
    });
    page = Math.max(0, Math.floor(shown.indexOf(chosen) / PAGE));
    list();
  }

  function list() {
    const from = page * PAGE, to = Math.min(shown.length, from + PAGE);
    const several = new Set(rows.map((r) => r.batch)).size > 1;
    $("count").textContent = shown.length === 0 ? "no trial" : (from + 1) + "–" + to + " of " + count(shown.length) + " trials";
    const items = [];
    let batch = -1;
    for (const i of shown.slice(from, to)) {
      const r = rows[i], a = el("a");
      if (several && r.batch !== batch) items.push(el("li", "group", r.task + " with " + r.client));
      batch = r.batch;
      a.href = "#trial-" + i;
      a.id = "row-" + i;
      if (i === chosen) a.setAttribute("aria-current", "true");
      const glyph = el("span", "cell " + r.place, glyphs[r.place]);
      glyph.setAttribute("aria-hidden", "true");
      const what = el("span", "what", r.name);
      add(what, el("small", "", r.label + (r.cause ? ": " + r.cause : "")));
      const cost = el("span", "cost", secs(r.secs));
      add(cost, el("br"), document.createTextNode(r.tokens === null ? "" : count(r.tokens) + " tok"));
      items.push(add(el("li"), add(a, glyph, what, cost)));
    }
    $("rows").replaceChildren(...items);
    $("back").disabled = page === 0;
    $("on").disabled = to >= shown.length;
  }

  // --- the evidence ---
  function part(title, note, open, ...children) {
    const d = el("details", "part"), s = el("summary", "", title);
    if (note) add(s, el("small", "", note));
    d.open = open;
    return add(d, s, ...children);
  }
  function pairs(list) {
    const d = el("dl");
    for (const [k, v] of list) add(d, el("dt", "", k), el("dd", "", v));
    return d;
  }
  const lines = (list) => list.map((s) => el("p", "note", s));
  function text(t) {
    return add(document.createDocumentFragment(), t.text ? el("pre", "", t.text) : null, t.cut ? el("p", "muted", "… " + count(t.cut) + " more bytes are not on this page") : null);
  }
  function table(list, head) {
    const t = el("table"), body = el("tbody");
    const tr = el("tr");
    for (const h of head) { const th = el("th", "", h); th.scope = "col"; tr.append(th); }
    for (const c of list) {
      const th = el("th", "", c.name);
      th.scope = "row";
      add(body, add(el("tr"), th, add(el("td"), mark(c.verdict)), el("td", "", c.reason)));
    }
    add(t, add(el("thead"), tr), body);
    return add(el("div", "scroll"), t);
  }
  const tally = (list) => list.filter((c) => c.verdict === "pass").length + " of " + list.length + " pass";

  function call(c) {
    const d = el("details"), s = el("summary");
    add(s, mark(c.status), document.createTextNode(" "), el("b", "", c.name), document.createTextNode(" "), el("code", "", c.brief));
    add(d, s);
    // The body is made when it is first looked at: a session may have thousands of calls.
    d.addEventListener("toggle", () => {
      if (d.childElementCount > 1) return;
      add(d, el("h4", "", "input"), text(c.input), el("h4", "", "output"), c.output.text || c.output.cut ? text(c.output) : el("p", "muted", "nothing"));
    });
    return d;
  }
  function turn(t) {
    const div = el("div", "turn" + (t.who.startsWith("assistant") ? " assistant" : "") + (t.inner ? " inner" : ""));
    add(div, el("p", "who", t.who + (t.time ? " · " + t.time : "")));
    if (t.reasoning.text || t.reasoning.cut) add(div, add(el("details"), el("summary", "", "reasoning"), text(t.reasoning)));
    if (t.text.text && t.folded) add(div, add(el("details"), el("summary", "", t.text.text.split("\n")[0].slice(0, 200)), el("p", "said", t.text.text)));
    else if (t.text.text) add(div, el("p", "said", t.text.text));
    if (t.text.cut) add(div, el("p", "muted", "… " + count(t.text.cut) + " more bytes are not on this page"));
    for (const c of t.calls || []) add(div, call(c));
    return div;
  }
  function session(s) {
    if (!s) return null;
    if (s.problem) return part("Transcript", "", true, el("p", "note", s.problem));
    const turns = s.turns || [], calls = turns.reduce((n, t) => n + (t.calls || []).length, 0);
    const box = el("div"), more = el("button", "", "show the other turns");
    let at = 0;
    const step = () => {
      for (const t of turns.slice(at, at + 100)) box.append(turn(t));
      at += 100;
      more.hidden = at >= turns.length;
    };
    more.type = "button";
    more.addEventListener("click", step);
    step();
    return part("Transcript", turns.length + " turns, " + calls + " tool calls", true, pairs(s.facts || []), box, more,
      s.omitted ? el("p", "note", count(s.omitted) + " more turns are not on this page; proctor transcript shows them") : null);
  }
  function file(f, open) {
    const d = el("details"), s = el("summary");
    const all = f.diff.text.split("\n");
    const n = (c) => all.filter((l) => l.startsWith(c)).length;
    add(s, add(el("b", "", f.path)), document.createTextNode(" "), el("small", "", f.status + (f.diff.text ? ", +" + n("+") + " −" + n("-") : "")));
    d.open = open;
    add(d, s);
    if (f.note) add(d, el("p", "muted", f.note));
    const fill = () => {
      if (!d.open || d.querySelector("pre") || !f.diff.text) return;
      const pre = el("pre", "wide");
      pre.tabIndex = 0;
      for (const l of all) {
        if (l === "") continue;
        pre.append(el("span", l[0] === "+" ? "add" : l[0] === "-" ? "del" : l[0] === "@" ? "at" : "", l));
      }
      add(d, pre, f.diff.cut ? el("p", "muted", "… " + count(f.diff.cut) + " more bytes are not on this page") : null);
    };
    d.addEventListener("toggle", fill);
    fill();
    return d;
  }
  function changes(c) {
    const files = c.files || [];
    const hidden = (f) => f.path.startsWith(".") || f.path === "Cargo.lock";
    return part("What it changed", files.length + (files.length === 1 ? " file differs" : " files differ") + " from the starter", true,
      ...(c.notes || []).map((s) => el("p", "muted", s)), ...files.map((f) => file(f, !hidden(f) && files.length < 10)));
  }
  function svg(tag, attributes) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of attributes) e.setAttribute(k, v);
    return e;
  }
  function timeline(stages) {
    const all = stages.reduce((n, s) => n + (s.secs || 0), 0);
    if (!all) return null;
    const drawing = svg("svg", [["class", "timeline"], ["height", "18"], ["aria-hidden", "true"]]);
    const words = el("p", "stages");
    let at = 0;
    for (const s of stages) {
      if (s.secs) drawing.append(svg("rect", [["class", s.name], ["x", 100 * at / all + "%"], ["width", Math.max(0.2, 100 * s.secs / all) + "%"], ["y", "2"], ["height", "14"]]));
      at += s.secs || 0;
      add(words, add(el("span"), el("i", s.name), document.createTextNode(s.name + " " + (s.secs === null ? "did not run" : secs(s.secs)) + (s.most ? " of " + secs(s.most) : ""))));
    }
    return part("Timing", secs(all) + " in all", true, drawing, words);
  }

  function show(i, focus) {
    const block = $("trial-data-" + i);
    if (!block) return;
    chosen = i;
    const at = shown.indexOf(i);
    if (at < 0) { // a link to a trial that the filter hides
      for (const id of ["f-task", "f-configuration", "f-place"]) $(id).value = "";
      filter();
    } else {
      page = Math.floor(at / PAGE);
      list();
    }
    const t = JSON.parse(block.textContent), head = el("h3");
    add(head, el("span", "cell " + t.place, glyphs[t.place]), document.createTextNode(t.name + ": " + t.label));
    const box = $("evidence");
    box.replaceChildren();
    add(box, el("p", "muted", rows[i].task + " · " + rows[i].client + " · trial " + (i + 1) + " of " + rows.length), head, t.why ? el("p", "lead", t.why) : null, ...lines(t.problems || []));
    if (t.facts) {
      const checks = t.checks || [], expected = t.expected || [], found = t.findings || [], outputs = t.outputs || [];
      add(box, pairs(t.facts));
      add(box, checks.length ? part("Code checks", tally(checks), true, table(checks, ["check", "verdict", "reason"]), ...lines(t.code || []))
        : part("Code checks", "", true, el("p", "muted", "The code was not graded."), ...lines(t.code || [])));
      if (expected.length) add(box, part("Expectations", tally(expected), true, table(expected, ["expectation", "verdict", "reason"])));
      if (found.length) add(box, part("Findings", String(found.length), true, pairs(found)));
      add(box, session(t.session), changes(t.changes), timeline(t.stages || []));
      if (outputs.length) add(box, part("What the grading printed", outputs.length + (outputs.length === 1 ? " file" : " files"), false, ...outputs.map((o) => add(document.createDocumentFragment(), el("h4", "", o.title), o.cut ? el("p", "muted", "… " + count(o.cut) + " bytes before this are not on this page") : null, el("pre", "", o.text)))));
      add(box, part("Environment", "", false, pairs(t.machine || [])));
      if (t.policy) add(box, part("Sandbox policy", "", false, el("pre", "", t.policy)));
    }
    add(box, el("p", "path muted", t.folder));
    for (const pre of box.querySelectorAll("pre")) pre.tabIndex = 0;
    if (focus === "evidence") box.focus({ preventScroll: true });
    if (focus === "evidence") box.scrollIntoView({ block: "start" });
    const row = $("row-" + i);
    if (focus === "row" && row) row.focus();
  }

  function go(i, focus) {
    if (i < 0 || i >= rows.length) return;
    history.replaceState(null, "", "#trial-" + i);
    show(i, focus);
  }
  function move(by) {
    if (shown.length === 0) return;
    const at = shown.indexOf(chosen);
    const to = at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by));
    go(shown[to], "row");
  }

  // --- what the reader does ---
  for (const id of ["f-task", "f-configuration", "f-place"]) $(id).addEventListener("change", filter);
  document.querySelector(".filters").addEventListener("submit", (e) => e.preventDefault());
  $("back").addEventListener("click", () => { page--; list(); });
  $("on").addEventListener("click", () => { page++; list(); });
  document.addEventListener("click", (e) => {
    const a = e.target.closest ? e.target.closest('a[href^="#trial-"]') : null;
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    go(Number(a.getAttribute("href").slice(7)), "evidence");
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("select, input, textarea")) return;
    const inList = e.target.closest("#rows");
    if (e.key === "j" || inList && e.key === "ArrowDown") move(1);
    else if (e.key === "k" || inList && e.key === "ArrowUp") move(-1);
    else if (e.key === "Escape" && chosen >= 0) move(0);
    else if (e.key === "t") theme(dark() ? "light" : "dark");
    else return;
    e.preventDefault();
  });
  function fromHash() {
    const m = /^#trial-(\d+)$/.exec(location.hash);
    if (m) show(Number(m[1]), "evidence");
  }
  window.addEventListener("hashchange", fromHash);

  // --- colours ---
  const keep = "proctor-theme", root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  function theme(name) {
    if (name === "light" || name === "dark") root.dataset.theme = name;
    else delete root.dataset.theme;
    for (const b of document.querySelectorAll(".theme button")) b.setAttribute("aria-pressed", String(b.dataset.theme === (root.dataset.theme || "auto")));
    try { localStorage.setItem(keep, name); } catch (_) { /* a browser may forbid it; the choice then lasts as long as the page */ }
  }
  for (const b of document.querySelectorAll(".theme button")) b.addEventListener("click", () => theme(b.dataset.theme));
  try { if (localStorage.getItem(keep)) theme(localStorage.getItem(keep)); } catch (_) { /* as above */ }

  list();
  // The first trial that did not succeed is what a reader looks for; without one, the first.
  if (/^#trial-\d+$/.test(location.hash)) fromHash();
  else if (rows.length) show(Math.max(0, rows.findIndex((r) => r.place === "failed" || r.place === "broken")), "");
  else $("evidence").textContent = "No trial was planned.";
  root.dataset.ready = "yes";
})();
