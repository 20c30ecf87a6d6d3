/**
 * Draws docs/terminal.svg from a real session: `node --import tsx scripts/terminal-picture.mjs` plays the
 * commands below in a project created by `init`, captures their terminal output and draws it. Ids, times and
 * durations are replaced, so that the same program always draws the same picture.
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
    const real = argv.map((word) => (word === SHOWN_URL ? url : word === "last" ? threadId : word));
    const code = await start(real, cwd, terminal).exit;
    threadId = /thread\s+([0-9a-f]{8}(?:-[0-9a-f]+)+)/.exec(terminal.text)?.[1] ?? threadId;
    const shown = argv.map((word) => (word === "last" ? threadId.slice(0, 8) : word));
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
      .replaceAll(/(ready in )?\b\d+( ?)ms\b/g, (_, start, gap) => (start ? `${start}900 ms` : `30${gap}ms`));
  return { command: same(command), text: same(text), code };
}

/** Sortable ids, complete or shortened: of threads, runs and messages, and of checkpoints. */
const IDS =
  /(?<![0-9a-f-])(01|1f)[0-9a-f]{6}(-[0-9a-f]{4}(-[67][0-9a-f]{3}(-[0-9a-f]{4}(-[0-9a-f]{12})?)?)?)?(?![0-9a-f])/g;
const RUN_ID = "01a1fd12-72ac-71cb-8b64-da0a72e4e7b1";
const CHECKPOINT_ID = "1f1e5d87-f2f0-62c0-8002-168858653b38";
const NOON = "2026-11-21T12:00:00.000";

// Drawing: one window per terminal, text in terminal colors.

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

function linesOf(terminal) {
  return terminal.flatMap(({ command, text }, index) => {
    const lines = text.replaceAll("\r", "").trimEnd().split("\n");
    return [
      ...(index === 0 ? [] : [""]),
      `\u001b[1m${command}\u001b[22m`,
      ...lines.slice(0, MOST_LINES),
      ...(lines.length > MOST_LINES ? ["…"] : []),
    ];
  });
}

function windowAt(top, terminal) {
  const lines = linesOf(terminal);
  const height = lines.length * LINE + 44;
  const text = lines.map(
    (line, index) => `<text x="${MARGIN}" y="${top + 44 + index * LINE}">${spans(line)}</text>`,
  );
  const dots = [0, 1, 2].map(
    (index) => `<circle class="o" cx="${MARGIN + 6 + index * 18}" cy="${top + 17}" r="5"/>`,
  );
  const frame = `<rect class="w" x="0.5" y="${top + 0.5}" width="${WIDTH - 1}" height="${height}" rx="8"/>`;
  return { height, svg: [frame, ...dots, ...text].join("\n") };
}

const WIDTH = Math.ceil(COLUMNS * CHARACTER) + 2 * MARGIN;

const STYLE = `
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.w{fill:#f6f8fa;stroke:#d0d7de}.o{fill:#d0d7de}.b{font-weight:600}
.d{fill:#656d76}.r{fill:#cf222e}.g{fill:#116329}.y{fill:#7d4e00}.u{fill:#0550ae}.m{fill:#8250df}.c{fill:#0a6b83}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.w{fill:#0d1117;stroke:#30363d}.o{fill:#30363d}
.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#56d364}.y{fill:#e3b341}.u{fill:#79c0ff}.m{fill:#d2a8ff}.c{fill:#76e3ea}
}`;

/** The picture of a session, in light or dark colors depending on the reader's system. */
export function drawSession(terminals) {
  let top = 0;
  const drawn = [];
  for (const terminal of terminals) {
    const { height, svg } = windowAt(top, terminal);
    drawn.push(svg);
    top += height + 16;
  }
  const title = "Two terminals: graph-serve dev serves an agent; run asks it, and history shows its steps.";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${STYLE}</style>
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
