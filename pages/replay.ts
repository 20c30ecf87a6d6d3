/** The script of the page of a replay. Data only ever becomes text, through `textContent`. */
import type { ChangeLine } from "../src/view/change-lines.js";
import type { Change } from "../src/view/changes.js";
import type { PageHead, PageStep } from "../src/view/replay-data.js";
import { escapeControl, isMessageLike } from "../src/view/text.js";
import "./replay.css";

/** Milliseconds that a step is shown for while the page plays. */
const PLAY_MS = 800;
const LANES = 6;
const KINDS = { "+": "added", "-": "removed", "~": "changed" } as const;

const data = JSON.parse(byId("data").textContent) as PageHead & { steps: PageStep[] };
const { steps, thread } = data;
const indexes = new Map(steps.map((step, index) => [step.id, index]));
const children = countChildren();
const lanes = lanesOf();
const buttons: HTMLButtonElement[] = [];
let current = 0;
let timer: number | undefined;

function countChildren(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { parent } of steps) if (parent !== null) counts.set(parent, (counts.get(parent) ?? 0) + 1);
  return counts;
}

/** From the newest on, each step that nothing has led to yet begins a lane, and gives it to its parent. */
function lanesOf(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  let free = 0;
  for (const { id, parent } of steps.toReversed()) {
    const lane = found.get(id) ?? free++;
    found.set(id, lane);
    if (parent !== null && !found.has(parent)) found.set(parent, lane);
  }
  return found;
}

function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

const buttonOf = (id: string) => byId<HTMLButtonElement>(id);

function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name = "",
  content: string | readonly Node[] = [],
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (name !== "") element.className = name;
  if (typeof content === "string") element.textContent = escapeControl(content);
  else for (const child of content) element.appendChild(child);
  return element;
}

/** One by one: a call has no room for the steps of a long thread. */
function fill(element: HTMLElement, content: readonly Node[]): void {
  element.replaceChildren();
  for (const child of content) element.appendChild(child);
}

// Values of a step: those of the first step of its line, and all changes since.

function valuesAt(index: number): unknown {
  const line: PageStep[] = [];
  for (let step = steps[index]; step; step = steps[indexes.get(step.parent ?? "") ?? -1]) {
    line.push(step);
    if ("base" in step) break;
  }
  line.reverse();
  let values: unknown = structuredClone(line[0]?.base ?? {});
  for (const step of line) for (const change of step.changes) values = changed(values, change);
  return values;
}

function changed(values: unknown, { op, path, new: value }: Change): unknown {
  const key = path.at(-1);
  if (key === undefined) return op === "remove" ? undefined : structuredClone(value);
  const holder = path.slice(0, -1).reduce(own, values);
  if (Array.isArray(holder) && op === "add") holder.splice(Number(key), 0, structuredClone(value));
  else if (Array.isArray(holder) && op === "remove") holder.splice(Number(key), 1);
  else if (op === "remove") Reflect.deleteProperty(holder as object, key);
  else define(holder as object, key, structuredClone(value));
  return values;
}

/** Keys such as `__proto__` are data here. */
const own = (holder: unknown, key: string | number): unknown =>
  Object.getOwnPropertyDescriptor(Object(holder), key)?.value;

const define = (holder: object, key: string | number, value: unknown) =>
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });

// Messages

interface Message {
  type: string;
  content: unknown;
  [field: string]: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(blockText).join("\n");
}

function blockText(block: unknown): string {
  if (typeof block === "string") return block;
  return isObject(block) && typeof block.text === "string" ? block.text : JSON.stringify(block);
}

function messageElement(message: Message, isNew: boolean): HTMLElement {
  const kind = message.type.toLowerCase().replace("messagechunk", "");
  const known = ["human", "ai", "tool", "system"].includes(kind) ? kind : "other";
  const element = make("li", `message ${known}${isNew ? " new" : ""}`, [
    make("span", "who", typeof message.name === "string" ? `${kind} ${message.name}` : kind),
  ]);
  const text = contentText(message.content);
  if (text !== "") element.appendChild(make("div", "text", text));
  const calls: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  for (const call of calls.filter(isObject))
    element.appendChild(make("div", "call", `calls ${String(call.name)} ${JSON.stringify(call.args)}`));
  return element;
}

function isNewItem({ changes }: PageStep, key: string, index: number): boolean {
  return changes.some(
    ({ op, path }) =>
      op === "add" && path[0] === key && (path.length === 1 || (path.length === 2 && path[1] === index)),
  );
}

/** Each list of messages among the values. */
function chats(step: PageStep, values: unknown): HTMLElement[] {
  if (!isObject(values)) return [];
  return Object.entries(values).flatMap(([key, items]) => {
    if (!Array.isArray(items) || items.length === 0 || !items.every(isMessageLike)) return [];
    const list = items.map((item, index) => messageElement(item, isNewItem(step, key, index)));
    return [block(key, make("ol", "chat", list))];
  });
}

const block = (title: string, content: HTMLElement) =>
  make("section", "block", [make("h3", "", title), content]);

function changeTable(lines: readonly ChangeLine[]): HTMLElement {
  const rows = lines.map(({ mark, place, text }) =>
    make("div", `change ${KINDS[mark]}`, [
      make("span", "mark", mark),
      make("span", "where", place),
      make("span", "what", text),
    ]),
  );
  return make("div", "changes", rows);
}

// One step

/** A question that was followed by a step is open no more. */
const hasFollowers = ({ id }: PageStep) => children.has(id);
const numberOf = ({ step }: PageStep) => (step === null ? "?" : String(step));
const titleOf = ({ nodes, source }: PageStep) => nodes.join(", ") || source;

function detailsOf({ ms, created_at, next, run_id, id }: PageStep): string[] {
  return [
    ms === null ? "" : `${ms} ms`,
    created_at ?? "",
    next.length > 0 ? `next ${next.join(", ")}` : "",
    run_id === null ? "" : `run ${run_id}`,
    `checkpoint ${id}`,
  ].filter((detail) => detail !== "");
}

/** Leads to the step that this one branches off from. */
function originElement(step: PageStep): HTMLElement[] {
  const from = indexes.get(step.parent ?? "");
  const origin = steps[from ?? -1];
  if (from === undefined || !origin || from + 1 === indexes.get(step.id)) return [];
  const button = make("button", "origin", `a branch from step ${numberOf(origin)} ${titleOf(origin)}`);
  button.type = "button";
  button.addEventListener("click", () => show(from));
  return [button];
}

function stepElements(step: PageStep): HTMLElement[] {
  const values = valuesAt(current);
  const question = hasFollowers(step) ? "asked for" : "waits for";
  return [
    make("h2", "", `step ${numberOf(step)}  ${titleOf(step)}`),
    make(
      "ul",
      "facts",
      detailsOf(step).map((detail) => make("li", "", detail)),
    ),
    ...originElement(step),
    ...step.interrupts.map(({ value }) => make("p", "waits", `${question} ${JSON.stringify(value)}`)),
    ...step.errors.map((error) => make("p", "failed", `failed: ${error}`)),
    ...(step.lines.length > 0 ? [block("changes", changeTable(step.lines))] : []),
    ...(step.changes.length === 0 ? [make("p", "quiet", "nothing changed")] : []),
    ...chats(step, values),
    make("details", "", [
      make("summary", "", "all values"),
      make("pre", "", JSON.stringify(values, null, 2) ?? ""),
    ]),
  ];
}

function show(index: number): void {
  buttons[current]?.removeAttribute("aria-current");
  current = Math.min(Math.max(index, 0), steps.length - 1);
  const [step, button] = [steps[current], buttons[current]];
  if (!step || !button) return;
  button.setAttribute("aria-current", "step");
  button.scrollIntoView({ block: "nearest" });
  byId("place").textContent = `${current + 1} of ${steps.length}`;
  const isLast = current === steps.length - 1;
  for (const id of ["first", "back"]) buttonOf(id).disabled = current === 0;
  for (const id of ["last", "next"]) buttonOf(id).disabled = isLast;
  if (isLast) play(false);
  fill(byId("step"), stepElements(step));
}

function play(on: boolean): void {
  clearInterval(timer);
  timer = on ? setInterval(() => show(current + 1), PLAY_MS) : undefined;
  byId("play").textContent = on ? "Pause" : "Play";
}

// The page

function timelineItem(step: PageStep, index: number): HTMLElement {
  const branches = children.get(step.id) ?? 0;
  const badges = [
    ...(step.interrupts.length > 0
      ? [make("span", "badge waits", hasFollowers(step) ? "asked" : "waits")]
      : []),
    ...(step.errors.length > 0 ? [make("span", "badge failed", "failed")] : []),
    ...(branches > 1 ? [make("span", "badge", `${branches} branches`)] : []),
  ];
  const lane = Math.min(lanes.get(step.id) ?? 0, LANES - 1);
  const button = make("button", `lane${lane}`, [
    make("span", "dot"),
    make("span", "number", numberOf(step)),
    make("span", "name", titleOf(step)),
    ...badges,
  ]);
  button.type = "button";
  button.addEventListener("click", () => show(index));
  buttons.push(button);
  return make("li", "", [button]);
}

function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SUMMARY)$/.test(target.tagName)) return;
  const moves = new Map([
    ["ArrowRight", current + 1],
    ["ArrowLeft", current - 1],
    ["Home", 0],
    ["End", steps.length - 1],
  ]);
  const move = moves.get(key);
  if (move !== undefined) {
    play(false);
    show(move);
  } else if (key === " " && !(target instanceof HTMLButtonElement)) play(timer === undefined);
  else return;
  event.preventDefault();
}

const head = [
  thread.status,
  `${steps.length} steps`,
  `updated ${thread.updated_at}`,
  thread.error === null ? "" : `error: ${thread.error}`,
];
byId("title").textContent = escapeControl(`Thread ${thread.thread_id}`);
byId("facts").textContent = escapeControl(head.filter((part) => part !== "").join("  ·  "));
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
