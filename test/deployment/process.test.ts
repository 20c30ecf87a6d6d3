/** The Dockerfile and the systemd unit of docs/deployment.md: the files they name exist, and their commands work. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stopProgram } from "../helpers/programs.js";
import { installPackage } from "../helpers/compiled.js";
import { markedBlocks, ROOT } from "../helpers/markdown.js";

const START_MS = 120_000;
const block = (name: string): string =>
  markedBlocks("docs/deployment.md").find((one) => one.name === name)?.text ?? "";

/** Instructions of a Dockerfile, grouped by stage. */
function stagesOf(text: string): { instruction: string; rest: string }[][] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const stages: { instruction: string; rest: string }[][] = [];
  for (const line of lines) {
    const [, instruction = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === "FROM") stages.push([]);
    stages.at(-1)?.push({ instruction, rest });
  }
  return stages;
}

let installed: string;
let app: string;
beforeAll(async () => {
  installed = await installPackage();
  // A project as created by `init`, after `npm install`.
  app = join(installed, "app");
  await cp(join(ROOT, "templates/chat"), app, { recursive: true });
  await writeFile(join(app, "package-lock.json"), "{}");
  await mkdir(join(app, "node_modules"));
  await symlink(installed, join(app, "node_modules/graph-serve"), "junction");
  await symlink(join(ROOT, "node_modules/@langchain"), join(app, "node_modules/@langchain"), "junction");
}, START_MS);
afterAll(() => rm(installed, { recursive: true, force: true }));

interface Started {
  child: ChildProcess;
  url: string;
}

/** Starts a command from the documents, on an automatic port instead of 2024. */
async function start(command: readonly string[], env: Record<string, string> = {}): Promise<Started> {
  const [, ...args] = command.map((word) => (word === "2024" ? "0" : word));
  const child = spawn(process.execPath, args, {
    cwd: app,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  const port = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (text) => {
      log += String(text);
      const [, found] = /"url":"http:\/\/[^"]+:(\d+)"/.exec(log) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`exited with code ${code}: ${log}`)));
  });
  return { child, url: `http://127.0.0.1:${port}` };
}

describe("the Dockerfile", () => {
  const stages = stagesOf(block("Dockerfile"));
  const [build = [], final = []] = stages;
  const of = (stage: typeof final, name: string) =>
    stage.filter(({ instruction }) => instruction === name).map(({ rest }) => rest);

  it("has two stages and runs as a non-root user", () => {
    expect(stages).toHaveLength(2);
    expect(of(final, "USER")).toEqual(["node"]);
    for (const image of [...of(build, "FROM"), ...of(final, "FROM")]) expect(image).toMatch(/^node:2\d-/);
    expect(of(final, "RUN")).toEqual([]);
  });

  it("copies only files that exist", () => {
    const sources = of(build, "COPY").flatMap((rest) => rest.split(" ").slice(0, -1));
    expect(sources).toContain("package-lock.json");
    for (const source of sources) expect(existsSync(join(app, source))).toBe(true);
  });

  it(
    "has a command that serves, passes its health check and stops on SIGTERM",
    { timeout: START_MS },
    async () => {
      const command = JSON.parse(of(final, "CMD")[0] ?? "") as string[];
      expect(command[0]).toBe("node");
      expect(of(final, "EXPOSE")).toEqual(["2024"]);
      const { child, url } = await start(command, { NODE_ENV: "production" });
      try {
        const [, probe = ""] = /CMD (\[.*\])$/.exec(of(final, "HEALTHCHECK")[0] ?? "") ?? [];
        const check = async (address: string) => {
          const [, ...args] = (JSON.parse(probe) as string[]).map((word) =>
            word.replace("http://127.0.0.1:2024", address),
          );
          return (await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit"))[0] as number;
        };
        expect(await check(url)).toBe(0);
        expect(await check("http://127.0.0.1:1")).toBe(1);
        expect((await fetch(`${url}/ready`)).status).toBe(200);
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        expect(await ended).toEqual([0, null]);
      } finally {
        await stopProgram(child, "SIGKILL");
      }
    },
  );
});

describe("the systemd unit", () => {
  const unit = block("graph-serve.service");
  const [, command = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];

  it("has a command that serves and stops on SIGTERM", { timeout: START_MS }, async () => {
    const { child, url } = await start(command.replace("%i", "2024").split(" "));
    try {
      expect((await fetch(`${url}/ok`)).status).toBe(200);
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      await stopProgram(child, "SIGKILL");
    }
  });

  it("allows more time to stop than the server needs", () => {
    const [, seconds = "0"] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds)).toBeGreaterThan(15);
  });
});
