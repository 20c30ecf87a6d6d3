import { spawn } from "node:child_process";
import type { GraphSummary } from "../../service/info.js";
import { VERSION } from "../../support/own-package.js";
import type { CliIo } from "../terminal/io.js";
import type { Colors } from "../terminal/print.js";
import { describeGraph } from "../terminal/text.js";

export interface BannerFacts {
  ms: number;
  url: string;
  /** Why the server does not use the configured port. */
  moved?: string;
  graphs: readonly GraphSummary[];
  storage: { scheme: string; location?: string; durable: boolean };
  /** The compat mode and where it was set; omitted for the default mode. */
  compat?: { name: string; origin: string };
  /** The graph argument of the command line; omitted if the configuration defines the graph. */
  target: string | undefined;
  /** Example input flag for the default graph. */
  input: string;
  /** URL of the Studio; undefined without a Studio. */
  studio: string | undefined;
  /** Address for a debugger; undefined without `--inspect`. */
  inspector: string | undefined;
  /** Whether the graphs were found, and no configuration file contains them. */
  isUnwritten: boolean;
  /** Whether keyboard shortcuts are active. */
  hasKeys: boolean;
}

const MOST_GRAPHS = 4;

/** The banner of `dev`: at most 14 lines, plus one each for a taken port and a debugger. */
export function bannerLines(facts: BannerFacts, colors: Colors): string[] {
  const { bold, dim, cyan, yellow } = colors;
  const label = (name: string) => dim(name.padEnd(7));
  return [
    "",
    `  ${bold("graph-serve")} ${VERSION}   ready in ${facts.ms} ms`,
    "",
    `  ${label("API")}  ${cyan(facts.url)}          ${dim("docs")}  /docs`,
    ...(facts.moved === undefined ? [] : [`  ${label("")}  ${bold(yellow(facts.moved))}`]),
    ...(facts.studio === undefined ? [] : [`  ${label("Studio")}  ${cyan(facts.studio)}`]),
    ...(facts.inspector === undefined
      ? []
      : [`  ${label("Debug")}  ${facts.inspector}  ${dim("chrome://inspect, or attach your editor")}`]),
    ...graphLines(facts.graphs).map((line, index) => `  ${label(index === 0 ? "Graph" : "")}  ${line}`),
    `  ${label("Storage")}  ${storageText(facts.storage, dim)}`,
    ...(facts.compat ? [`  ${label("Compat")}  ${compatText(facts.compat, dim)}`] : []),
    "",
    `  ${dim("try")}   ${["graph-serve run", ...(facts.target ? [facts.target] : [])].join(" ")} ${facts.input}`,
    ...(facts.hasKeys ? [`  ${dim("keys")}  ${keysText(facts)}`] : []),
  ];
}

const keysText = ({ studio, isUnwritten }: BannerFacts): string =>
  [
    "r reload",
    ...(studio === undefined ? [] : ["s open Studio"]),
    "o open docs",
    ...(isUnwritten ? ["w write configuration"] : []),
    "q quit",
  ].join("   ");

/** The same information, one plain line each. */
export function plainLines({
  ms,
  url,
  moved,
  graphs,
  storage,
  compat,
  studio,
  inspector,
}: BannerFacts): string[] {
  return [
    `graph-serve ${VERSION} ready in ${ms} ms at ${url} (docs at ${url}/docs)`,
    ...(moved === undefined ? [] : [moved]),
    ...(studio === undefined ? [] : [`studio ${studio}`]),
    ...(inspector === undefined ? [] : [`debugger ${inspector}`]),
    ...graphs.map((graph) => `graph ${graph.id} ${describeGraph(graph)}`),
    `storage ${storageText(storage, (text) => text)}`,
    ...(compat ? [`compat ${compatText(compat, (text) => text)}`] : []),
  ];
}

function graphLines(graphs: readonly GraphSummary[]): string[] {
  const shown = graphs.length > MOST_GRAPHS ? graphs.slice(0, MOST_GRAPHS - 1) : graphs;
  const lines = shown.map((graph) => `${graph.id}  ${describeGraph(graph)}`);
  return shown.length === graphs.length ? lines : [...lines, `and ${graphs.length - shown.length} more`];
}

function storageText(
  { scheme, location, durable }: BannerFacts["storage"],
  dim: (text: string) => string,
): string {
  if (!durable) return `${scheme} ${dim("(threads are lost when this process exits)")}`;
  return `${[scheme, location].filter(Boolean).join(" ")}     ${dim("(--db memory: nothing is saved)")}`;
}

const compatText = (
  { name, origin }: NonNullable<BannerFacts["compat"]>,
  dim: (text: string) => string,
): string => `${name} ${dim(`(${origin}); for the defaults of the specification: --compat specification`)}`;

interface KeyActions {
  reload(): void;
  openDocs(): void;
  openStudio(): void;
  /** Writes the configuration, if there is none. */
  write(): void;
  quit(): void;
}

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** Listens for single keys; returns a function that stops it. Handles Ctrl-C too, because raw mode sends no signal. */
export function listenForKeys({ stdin }: CliIo, actions: KeyActions): () => void {
  const onData = (data: Buffer | string) => {
    const key = String(data);
    if (key === "r") actions.reload();
    else if (key === "o") actions.openDocs();
    else if (key === "s") actions.openStudio();
    else if (key === "w") actions.write();
    else if (key === "q" || key === CTRL_C || key === CTRL_D) actions.quit();
  };
  stdin.setRawMode?.(true);
  stdin.on("data", onData);
  stdin.resume();
  return () => {
    stdin.off("data", onData);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}

/** Opens a page in the default browser; does nothing if there is none. */
export function openInBrowser(url: string): void {
  const [command, ...args] = {
    darwin: ["open", url],
    win32: ["cmd", "/c", "start", "", url],
  }[process.platform as string] ?? ["xdg-open", url];
  const child = spawn(command as string, args, { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
