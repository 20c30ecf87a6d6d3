/**
 * Records docs/terminal.svg, an animation of 20 seconds, from a real session: `node --import tsx
 * scripts/terminal-picture.mjs` plays the commands below in a project created by `init`, captures their terminal output
 * and draws it. Ids, times and durations are replaced, so that the same program always draws the same recording.
 */
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { main } from "../src/cli/main.js";

const ROOT = join(import.meta.dirname, "..");
const PICTURE = join(ROOT, "docs/terminal.svg");
const COLUMNS = 104;
/** Maximum number of lines shown per command. */
const MOST_LINES = 18;
const SHOWN_URL = "http://127.0.0.1:2024";

/** Two terminals: one serves, the other runs the agent and inspects the result. */
export const SERVED = ["dev"];
export const ASKED = [
  ["run", "--url", SHOWN_URL, "--message", "What is 12 * 7?"],
  ["history", "last"],
  ["replay", "last@1", "--execute", "--compare"],
];

export const typed = (argv) =>
  ["$ npx graph-serve", ...argv.map((word) => (/[\s*?]/.test(word) ? `"${word}"` : word))].join(" ");

class Screen {
  text = "";
  isTTY = true;
  columns = COLUMNS;
  #waiting = [];

  write(text) {
    this.text += text;
    for (const wake of this.#waiting.splice(0)) wake();
    return true;
  }

  async until(pattern) {
    while (!pattern.test(this.text)) await new Promise((resolve) => this.#waiting.push(resolve));
    return pattern.exec(this.text);
  }
}

function start(argv, cwd, screen) {
  const stdin = Object.assign(new Readable({ read: () => undefined }), {
    isTTY: true,
    setRawMode: () => undefined,
  });
  const stop = new AbortController();
  const io = { stdout: screen, stderr: screen, stdin, env: {}, cwd, signal: stop.signal };
  return { exit: main(argv, io), stop: () => stop.abort("SIGTERM") };
}

/**
 * Plays the session.
 * @returns for each terminal, `{ command, text, code }` of each command in order
 */
export async function playSession() {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-picture-"));
  try {
    await cp(join(ROOT, "templates/agent-tools"), folder, { recursive: true });
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
    return await play(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function play(cwd) {
  const screen = new Screen();
  const server = start([...SERVED, "-p", "0"], cwd, screen);
  const [url] = await screen.until(/http:\/\/127\.0\.0\.1:\d+/);
  const asked = [];
  let threadId = "";
  for (const argv of ASKED) {
    const terminal = new Screen();
    const real = argv.map((word) => (word === SHOWN_URL ? url : word.replace(/^last\b/, threadId)));
    const code = await start(real, cwd, terminal).exit;
    threadId = /thread\s+([0-9a-f]{8}(?:-[0-9a-f]+)+)/.exec(terminal.text)?.[1] ?? threadId;
    const shown = argv.map((word) => word.replace(/^last\b/, threadId.slice(0, 8)));
    asked.push({ command: typed(shown), text: terminal.text, code });
  }
  server.stop();
  const code = await server.exit;
  const served = { command: typed(SERVED), text: screen.text, code };
  return [[served], asked].map((terminal) => terminal.map((shown) => settled(shown, url)));
}

/** Replaces values that differ between runs with fixed values, of the same width if possible. */
function settled({ command, text, code }, url) {
  const known = new Map();
  const idLike = (id) => {
    if (id.startsWith("01")) return RUN_ID.slice(0, id.length);
    if (!known.has(id)) known.set(id, known.size);
    return CHECKPOINT_ID.replace("f2f0", `f2f${known.get(id) % 10}`).slice(0, id.length);
  };
  const same = (part) =>
    part
      .replaceAll(url, SHOWN_URL)
      .replaceAll(IDS, idLike)
      .replaceAll(/\d{4}-\d\d-\d\d([T ])\d\d:\d\d(:\d\d(\.\d{3})?)?/g, (at) => NOON.slice(0, at.length))
      .replaceAll(/\b\d\d:\d\d:\d\d\b/g, "12:00:00")
      .replaceAll(/token=[0-9a-f]{32}/g, `token=${TOKEN}`)
      .replaceAll(/(ready in )?\b\d+( ?)ms\b/g, (_, start, gap) => (start ? `${start}900 ms` : `30${gap}ms`));
  return { command: same(command), text: same(text), code };
}

/** Sortable ids, complete or shortened: of threads, runs and messages, and of checkpoints. */
const IDS =
  /(?<![0-9a-f-])(01|1f)[0-9a-f]{6}(-[0-9a-f]{4}(-[67][0-9a-f]{3}(-[0-9a-f]{4}(-[0-9a-f]{12})?)?)?)?(?![0-9a-f])/g;
const RUN_ID = "01a1fd12-72ac-71cb-8b64-da0a72e4e7b1";
const CHECKPOINT_ID = "1f1e5d87-f2f0-62c0-8002-168858653b38";
const TOKEN = "4f1c0a9e2d7b4c6f8a3e5d1b9c7f2a60";
const NOON = "2026-11-21T12:00:00.000";

// Drawing: one window per terminal, text in terminal colors. The second terminal shows one command after the other.

const CLASSES = { 1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 34: "u", 35: "m", 36: "c", 90: "d" };
const LINE = 18;
const CHARACTER = 7.83;
const MARGIN = 16;

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Converts a line with color codes (`\u001b[…m`) to spans. */
function spans(line) {
  const on = new Set();
  const parts = [];
  for (const [, codes, text] of `\u001b[m${line}`.matchAll(/\u001b\[([\d;]*)[A-Za-z]([^\u001b]*)/g)) {
    for (const code of codes.split(";").map(Number)) {
      if (code === 0) on.clear();
      else if (code === 22) ["b", "d"].forEach((name) => on.delete(name));
      else if (code === 39) ["r", "g", "y", "u", "m", "c"].forEach((name) => on.delete(name));
      else if (CLASSES[code] !== undefined) on.add(CLASSES[code]);
    }
    if (text === "") continue;
    const names = [...on].join(" ");
    parts.push(names === "" ? escaped(text) : `<tspan class="${names}">${escaped(text)}</tspan>`);
  }
  return parts.join("");
}

/** The command and its output, clipped to the width of the terminal. */
function linesOf({ command, text }) {
  const lines = text.replaceAll("\r", "").trimEnd().split("\n").map(clipped);
  return [
    `\u001b[1m${command}\u001b[22m`,
    ...lines.slice(0, MOST_LINES),
    ...(lines.length > MOST_LINES ? ["…"] : []),
  ];
}

/** Lines that are too long contain few colors: those are removed with the end. */
function clipped(line) {
  const plain = line.replaceAll(/\u001b\[[\d;]*m/g, "");
  return plain.length <= COLUMNS ? line : `${line.slice(0, line.length - (plain.length - COLUMNS) - 1)}…`;
}

const heightOf = (count) => count * LINE + 44;

function frame(top, height) {
  const dots = [0, 1, 2].map(
    (index) => `<circle class="o" cx="${MARGIN + 6 + index * 18}" cy="${top + 17}" r="5"/>`,
  );
  return [
    `<rect class="w" x="0.5" y="${top + 0.5}" width="${WIDTH - 1}" height="${height}" rx="8"/>`,
    ...dots,
  ];
}

/** Lines that appear one by one: the command is typed first. */
function scene(lines, { top, from, to, at }) {
  const { steps, name } = typing(lines[0] ?? "", from);
  const output = from + TYPING_SECONDS + PAUSE_SECONDS;
  const every = Math.min(0.3, (to - output) / 3 / lines.length);
  return [
    `<g style="animation-name:${shown(from, to)}">`,
    ...lines.map((line, index) => {
      const y = top + 44 + index * LINE;
      const animation =
        index === 0
          ? `animation-name:${name};animation-timing-function:steps(${steps})`
          : `animation-name:${shown(at?.(line, index) ?? output + index * every, to)}`;
      return `<text x="${MARGIN}" y="${y}" style="${animation}">${spans(line)}</text>`;
    }),
    "</g>",
  ].join("\n");
}

/** How long the recording and its parts take, in seconds. */
const SECONDS = 20;
const TYPING_SECONDS = 0.9;
const PAUSE_SECONDS = 0.3;

const percent = (seconds) => `${Math.round((seconds / SECONDS) * 10_000) / 100}%`;

/** Keyframes by name. Equal ones are written once. */
const keyframes = new Map();

function shown(from, to) {
  const name = `s${Math.round(from * 100)}t${Math.round(to * 100)}`;
  const until = to >= SECONDS ? "" : `${percent(to)},100%{opacity:0}`;
  const before = from <= 0 ? "" : `0%,${percent(from - 0.01)}{opacity:0}`;
  keyframes.set(
    name,
    `@keyframes ${name}{${before}${percent(from)},${to >= SECONDS ? "100%" : percent(to - 0.01)}{opacity:1}${until}}`,
  );
  return name;
}

/** The keyframes that reveal a command character by character. */
function typing(line, from) {
  const steps = line.replaceAll(/\u001b\[[\d;]*m/g, "").length;
  const name = `k${Math.round(from * 100)}`;
  const hidden = "clip-path:inset(-4px 100% -4px 0)";
  const visible = "clip-path:inset(-4px 0 -4px 0)";
  keyframes.set(
    name,
    `@keyframes ${name}{0%,${percent(from)}{${hidden}}${percent(from + TYPING_SECONDS)},100%{${visible}}}`,
  );
  return { steps, name };
}

const WIDTH = Math.ceil(COLUMNS * CHARACTER) + 2 * MARGIN;

const style = () => `
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.w{fill:#f6f8fa;stroke:#d0d7de}.o{fill:#d0d7de}.b{font-weight:600}
.d{fill:#656d76}.r{fill:#cf222e}.g{fill:#116329}.y{fill:#7d4e00}.u{fill:#0550ae}.m{fill:#8250df}.c{fill:#0a6b83}
g,text{animation-duration:${SECONDS}s;animation-iteration-count:infinite}
@media (prefers-reduced-motion:reduce){g,text{animation:none!important}g:not(:last-of-type):not(.first){display:none}}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.w{fill:#0d1117;stroke:#30363d}.o{fill:#30363d}
.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#56d364}.y{fill:#e3b341}.u{fill:#79c0ff}.m{fill:#d2a8ff}.c{fill:#76e3ea}
}`;

/** When the commands of the second terminal begin, in seconds. */
const STARTS = [2, 9, 13.5];

/** The server starts within a second; its lines about the run appear while the second terminal shows the run. */
function servedAt(lines) {
  const ready = lines.findIndex((line) => line.includes("quit"));
  return (_, index) => (index <= ready ? 1.3 : STARTS[0] + 1.5 + (index - ready) * 0.2);
}

/** The recording of a session, in light or dark colors depending on the reader's system. */
export function drawSession([served, asked]) {
  const first = served.flatMap(linesOf);
  const top = heightOf(first.length) + 16;
  const height = heightOf(Math.max(...asked.map((shownCommand) => linesOf(shownCommand).length)));
  const drawn = [
    ...frame(0, heightOf(first.length)),
    scene(first, { top: 0, from: 0.2, to: SECONDS, at: servedAt(first) }).replace("<g ", '<g class="first" '),
    ...frame(top, height),
    ...asked.map((command, index) =>
      scene(linesOf(command), { top, from: STARTS[index] ?? 0, to: STARTS[index + 1] ?? SECONDS }),
    ),
  ];
  const title =
    "Two terminals: graph-serve dev serves an agent; run asks it, history shows its steps, and replay runs it again and compares.";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top + height + 1}" viewBox="0 0 ${WIDTH} ${top + height + 1}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${style()}
${[...keyframes.values()].join("\n")}
</style>
${drawn.join("\n")}
</svg>
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const terminals = await playSession();
  const failed = terminals.flat().filter(({ code }) => code !== 0);
  for (const { command, code, text } of failed)
    process.stderr.write(`${command}: exit code ${code}\n${text}\n`);
  if (failed.length === 0) await writeFile(PICTURE, drawSession(terminals));
  process.exit(failed.length === 0 ? 0 : 1);
}
