/** Executes the marked blocks of a document in order, in a shell with real servers, as a reader of a clone would. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { installPackage } from "./compiled.js";
import type { Block } from "./markdown.js";

const RUN_LIMIT_MS = 60_000;
/** Server addresses in the document, replaced by the actual port of each server. */
const WRITTEN_ADDRESS = /http:\/\/127\.0\.0\.1:(2024|3000)/g;

/** Replaces npx, which would link the clone into the user's npm cache. `scripts/check-package.mjs` tests the real one. */
const NPX =
  '#!/bin/sh\n[ "$1" = graph-serve ] || exit 127\nshift\nexec node "$CLONE/bin/graph-serve.js" "$@"\n';
/** Install commands: already done, and not available without a network. */
const DONE = /^npm (ci|install)\n/m;

export class Tour {
  readonly folder: string;
  /** Working directory of the blocks. */
  #cwd: string;
  #server: ChildProcess | undefined;
  #address = "";

  private constructor(folder: string) {
    this.folder = folder;
    this.#cwd = folder;
  }

  static async open(): Promise<Tour> {
    const folder = await installPackage();
    await mkdir(join(folder, ".shims"));
    await writeFile(join(folder, ".shims/npx"), NPX, { mode: 0o755 });
    return new Tour(folder);
  }

  /** Changes the working directory, creating it if it is missing. @returns its path */
  async enter(name: string): Promise<string> {
    this.#cwd = join(this.folder, name);
    await mkdir(this.#cwd, { recursive: true });
    return this.#cwd;
  }

  /** The address of the current server. */
  get address(): string {
    return this.#address;
  }

  async close(): Promise<void> {
    await this.#stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The output of the block; empty for a file or a server. */
  async follow({ kind, name, text }: Block): Promise<string> {
    if (kind === "file") {
      const file = join(this.#cwd, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, this.#here(text));
    } else if (kind === "serve") await this.#serve(this.#here(text));
    else if (kind === "run") return this.#there(await this.#run(this.#here(text)));
    return "";
  }

  async #run(script: string): Promise<string> {
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", `exec 2>&1\n${script}`], {
      ...this.#process,
      timeout: RUN_LIMIT_MS,
    });
    return stdout;
  }

  /** Starts a server after stopping the previous one, and waits until it prints its address. */
  async #serve(script: string): Promise<void> {
    await this.#stop();
    // `exec` replaces the shell, so that signals reach the server.
    const lines = script.replace(DONE, "").trim().split("\n");
    const command = [...lines.slice(0, -1), `exec ${lines.at(-1)}`].join("\n");
    const server = spawn("bash", ["-euc", command], { ...this.#process, stdio: ["ignore", "pipe", "pipe"] });
    this.#server = server;
    this.#address = await addressOf(server);
  }

  /** @throws if the server does not exit with code 0 */
  async #stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const exited = server.exitCode === null ? once(server, "exit") : Promise.resolve([server.exitCode]);
    server.kill("SIGTERM");
    const [code] = (await exited) as [number | null];
    if (code !== 0) throw new Error(`the server exited with code ${code}`);
  }

  get #process() {
    const PATH = [join(this.folder, ".shims"), process.env.PATH].join(delimiter);
    // A reader's terminal does not have CI, which changes the defaults of `graph-serve test`.
    const { CI: _, ...inherited } = process.env;
    const env = { ...inherited, PATH, CLONE: this.folder, NO_COLOR: "1", GRAPH_SERVE_PORT: "0", PORT: "0" };
    return { cwd: this.#cwd, env };
  }

  #here(text: string): string {
    return text.replace(WRITTEN_ADDRESS, () => this.#address);
  }

  #there(text: string): string {
    return this.#address === "" ? text : text.replaceAll(this.#address, "http://127.0.0.1:2024");
  }
}

async function addressOf(server: ChildProcess): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      printed += String(chunk);
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
      if (address !== undefined) resolve(address);
    };
    server.stdout?.on("data", listen);
    server.stderr?.on("data", listen);
    server.once("exit", (code) => reject(new Error(`the server exited with code ${code}: ${printed}`)));
  });
}

/** Removes ids, times and durations, which differ between runs. */
export function settled(text: string): string {
  return (
    text
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replace(/\b[0-9a-f]{32}\b/g, "HASH")
      // The version of a graph depends on the release of LangGraph.
      .replace(/\b[0-9a-f]{12}\b/g, "VERSION")
      .replace(/\b\d+ ms\b/g, "N ms")
  );
}
