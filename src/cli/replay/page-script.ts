/** The script of the page. All data goes through `textContent`; markup is never made from text. */
export const PAGE_SCRIPT = String.raw`
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const steps = data.steps;
  const indexes = new Map(steps.map((step, index) => [step.id, index]));
  const children = new Map();
  for (const { parent } of steps) if (parent) children.set(parent, (children.get(parent) || 0) + 1);
  const lanes = lanesOf(steps);
  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  const visible = (text) =>
    String(text).replace(CONTROL, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
  const byId = (id) => document.getElementById(id);
  let current = 0;
  let timer;

  /* From the newest on, each step that nothing has led to yet begins a lane, and gives it to its parent. */
  function lanesOf(steps) {
    const found = new Map();
    let free = 0;
    for (const { id, parent } of steps.slice().reverse()) {
      if (!found.has(id)) found.set(id, free++);
      if (parent && !found.has(parent)) found.set(parent, found.get(id));
    }
    return found;
  }

  function make(tag, name, text, inside) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = visible(text);
    for (const child of inside || []) element.appendChild(child);
    return element;
  }

  /* One by one: a call has no room for the steps of a long thread. */
  function fill(element, children) {
    element.replaceChildren();
    for (const child of children) element.appendChild(child);
  }

  /* Values of a step: those of the first step of its line, and all changes since. */
  function valuesAt(index) {
    const line = [];
    for (let at = index; at !== undefined; at = indexes.get(steps[at].parent)) {
      line.push(steps[at]);
      if ("base" in steps[at]) break;
    }
    line.reverse();
    let values = line[0] && "base" in line[0] ? JSON.parse(JSON.stringify(line[0].base)) : {};
    for (const step of line) for (const change of step.changes) values = changed(values, change);
    return values;
  }

  const own = (holder, key) => {
    const found = Object.getOwnPropertyDescriptor(holder, key);
    return found && found.value;
  };

  function changed(values, change) {
    if (change.path.length === 0) return change.op === "remove" ? undefined : copy(change.new);
    const path = change.path.slice(0, -1);
    const key = change.path[change.path.length - 1];
    const holder = path.reduce((inner, step) => own(inner, step), values);
    if (Array.isArray(holder) && change.op === "add") holder.splice(key, 0, copy(change.new));
    else if (Array.isArray(holder) && change.op === "remove") holder.splice(key, 1);
    else if (change.op === "remove") delete holder[key];
    else
      Object.defineProperty(holder, key, {
        value: copy(change.new),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    return values;
  }

  const copy = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
  const isMessage = (item) =>
    typeof item === "object" && item !== null && typeof item.type === "string" && "content" in item;

  function contentText(content) {
    if (typeof content === "string") return content;
    if (!Array.isArray(content)) return "";
    const texts = content.map((block) =>
      typeof block === "string" ? block : block && typeof block.text === "string" ? block.text : JSON.stringify(block),
    );
    return texts.join("\n");
  }

  function messageElement(message, isNew) {
    const kind = message.type.toLowerCase().replace("messagechunk", "");
    const known = ["human", "ai", "tool", "system"].includes(kind) ? kind : "other";
    const element = make("li", "message " + known + (isNew ? " new" : ""));
    element.appendChild(make("span", "who", message.name ? kind + " " + message.name : kind));
    const text = contentText(message.content);
    if (text) element.appendChild(make("div", "text", text));
    for (const call of Array.isArray(message.tool_calls) ? message.tool_calls : []) {
      element.appendChild(make("div", "call", "calls " + call.name + " " + JSON.stringify(call.args)));
    }
    return element;
  }

  function isNewItem(step, key, index) {
    return step.changes.some(
      ({ op, path }) => op === "add" && path[0] === key && (path.length === 1 || (path.length === 2 && path[1] === index)),
    );
  }

  function chats(step, values) {
    if (typeof values !== "object" || values === null) return [];
    return Object.keys(values).flatMap((key) => {
      const items = values[key];
      if (!Array.isArray(items) || items.length === 0 || !items.every(isMessage)) return [];
      const list = items.map((item, index) => messageElement(item, isNewItem(step, key, index)));
      return [block(key, make("ol", "chat", undefined, list))];
    });
  }

  function block(title, content) {
    return make("section", "block", undefined, [make("h3", "", title), content]);
  }

  function changeTable(lines) {
    const kinds = { "+": "added", "-": "removed", "~": "changed" };
    const rows = lines.map(({ mark, place, text }) =>
      make("div", "change " + kinds[mark], undefined, [
        make("span", "mark", mark),
        make("span", "where", place),
        make("span", "what", text),
      ]),
    );
    return make("div", "changes", undefined, rows);
  }

  /* A question that was followed by a step is no longer open. */
  const hasFollowers = (step) => children.has(step.id);
  const titleOf = (step) => step.nodes.join(", ") || step.source;

  function factsOf(step) {
    return [
      step.ms === null ? "" : step.ms + " ms",
      step.created_at || "",
      step.next.length > 0 ? "next " + step.next.join(", ") : "",
      step.run_id ? "run " + step.run_id : "",
      "checkpoint " + step.id,
    ].filter(Boolean);
  }

  function originElement(step) {
    const from = indexes.get(step.parent);
    if (from === undefined || from === indexes.get(step.id) - 1) return [];
    const button = make("button", "origin", "a branch from step " + steps[from].step + " " + titleOf(steps[from]));
    button.type = "button";
    button.addEventListener("click", () => show(from));
    return [button];
  }

  function renderStep(step) {
    const values = valuesAt(current);
    const parts = [
      make("h2", "", "step " + (step.step === null ? "?" : step.step) + "  " + titleOf(step)),
      make("ul", "facts", undefined, factsOf(step).map((fact) => make("li", "", fact))),
      ...originElement(step),
      ...step.interrupts.map(({ value }) => make("p", "waits", (hasFollowers(step) ? "asked for " : "waits for ") + JSON.stringify(value))),
      ...step.errors.map((error) => make("p", "failed", "failed: " + error)),
    ];
    if (step.lines.length > 0) parts.push(block("changes", changeTable(step.lines)));
    if (step.changes.length === 0) parts.push(make("p", "quiet", "nothing changed"));
    parts.push(...chats(step, values));
    parts.push(
      make("details", "", undefined, [make("summary", "", "all values"), make("pre", "", JSON.stringify(values, null, 2))]),
    );
    fill(byId("step"), parts);
  }

  function show(index) {
    if (steps.length === 0) return;
    const items = byId("timeline").querySelectorAll("button");
    if (items[current]) items[current].removeAttribute("aria-current");
    current = Math.min(Math.max(index, 0), steps.length - 1);
    const item = items[current];
    item.setAttribute("aria-current", "step");
    if (item.scrollIntoView) item.scrollIntoView({ block: "nearest" });
    byId("place").textContent = current + 1 + " of " + steps.length;
    byId("first").disabled = byId("back").disabled = current === 0;
    byId("last").disabled = byId("next").disabled = current === steps.length - 1;
    if (current === steps.length - 1) play(false);
    renderStep(steps[current]);
  }

  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => show(current + 1), 800) : undefined;
    byId("play").textContent = on ? "Pause" : "Play";
  }

  function timelineItem(step, index) {
    const badges = [
      ...(step.interrupts.length > 0 ? [make("span", "badge waits", hasFollowers(step) ? "asked" : "waits")] : []),
      ...(step.errors.length > 0 ? [make("span", "badge failed", "failed")] : []),
      ...(children.get(step.id) > 1 ? [make("span", "badge", children.get(step.id) + " branches")] : []),
    ];
    const lane = Math.min(lanes.get(step.id), 5);
    const button = make("button", "lane" + lane, undefined, [
      make("span", "dot"),
      make("span", "number", step.step === null ? "?" : step.step),
      make("span", "name", titleOf(step)),
      ...badges,
    ]);
    button.type = "button";
    button.addEventListener("click", () => show(index));
    return make("li", "", undefined, [button]);
  }

  function onKey(event) {
    if (event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SUMMARY)$/.test(event.target.tagName)) return;
    const moves = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: steps.length - 1 };
    if (event.key in moves) {
      play(false);
      show(moves[event.key]);
    } else if (event.key === " " && !(event.target instanceof HTMLButtonElement)) play(timer === undefined);
    else return;
    event.preventDefault();
  }

  const { thread } = data;
  byId("title").textContent = visible("Thread " + thread.thread_id);
  byId("facts").textContent = visible(
    [thread.status, steps.length + " steps", "updated " + thread.updated_at, thread.error ? "error: " + thread.error : ""]
      .filter(Boolean)
      .join("  ·  "),
  );
  fill(byId("timeline"), steps.map(timelineItem));
  byId("first").addEventListener("click", () => show(0));
  byId("back").addEventListener("click", () => show(current - 1));
  byId("next").addEventListener("click", () => show(current + 1));
  byId("last").addEventListener("click", () => show(steps.length - 1));
  byId("play").addEventListener("click", () => {
    if (timer === undefined && current === steps.length - 1) show(0);
    play(timer === undefined);
  });
  document.addEventListener("keydown", onKey);
  if (steps.length === 0) byId("step").textContent = "This thread has no checkpoints.";
  show(0);
})();
`;
