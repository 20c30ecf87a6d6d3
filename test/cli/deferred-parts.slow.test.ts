/** `start` loads the dependencies of Express that it does not call only for an app that does. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installPackage } from "../helpers/compiled.js";
import { createProject, type Project } from "./harness.js";

const APP = `
import { createRequire } from "node:module";
import express from "express";

const { cache } = createRequire(import.meta.url);
export const app = express();
app.get("/loaded", (_req, res) => void res.end(Object.keys(cache).join("\\n")));
app.post("/json", (...call) => express.json()(...call), (req, res) => void res.status(201).json(req.body));
app.post("/form", (...call) => express.urlencoded({ extended: true })(...call), (req, res) => void res.json(req.body));
app.post("/text", (...call) => express.text()(...call), (req, res) => void res.json([req.is("text/*"), req.body]));
app.get("/query", (req, res) => void res.json(req.query)).set("query parser", "extended");
app.get("/formats", (_req, res) => void res.format({ text: () => res.send("text"), html: () => res.send("<p>") }));
app.get("/cookie", (req, res) => {
  req.secret = "secret";
  res.cookie("a", "b", { signed: true }).vary("X-One").attachment("ä.txt").send("attached");
});
app.get("/file", (_req, res) => res.sendFile("app.mjs", { root: import.meta.dirname }));
app.get("/missing", (_req, res, next) => res.sendFile("none", { root: import.meta.dirname }, next));
app.use("/files", (...call) => express.static(import.meta.dirname)(...call));
app.use((error, _req, res, next) => (res.headersSent ? next(error) : res.status(error.status).end(error.message)));
export const middleware = (req, res, next) => app(req, res, next);
`;
const GRAPH = `
import { Annotation, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ done: Annotation() }))
  .addNode("work", () => ({ done: "yes" }))
  .addEdge(START, "work")
  .compile();
`;

let installed: string;
let project: Project;
let server: ChildProcess;
let url: string;
beforeAll(async () => {
  installed = await installPackage();
  project = await createProject({
    "app.mjs": APP,
    "graph.mjs": GRAPH,
    "graph-server.config.json": JSON.stringify({ http_app: "./app.mjs:middleware" }),
  });
  const argv = [join(installed, "bin/graph-serve.js"), "start", "./graph.mjs", "-p", "0"];
  server = spawn(process.execPath, argv, { cwd: project.dir, stdio: ["ignore", "ignore", "pipe"] });
  url = await listening(server);
}, 120_000);
afterAll(async () => {
  server.kill("SIGKILL");
  await project.remove();
  await rm(installed, { recursive: true, force: true });
});

function listening({ stderr }: ChildProcess): Promise<string> {
  let log = "";
  return new Promise((resolve, reject) => {
    stderr!.on("data", (chunk) => {
      log += String(chunk);
      const [, found] = /"url":"([^"]+)".*"listening"/.exec(log) ?? [];
      if (found !== undefined) resolve(found);
    });
    stderr!.once("close", () => reject(new Error(log)));
  });
}

const loaded = async () => {
  const files = (await (await fetch(`${url}/loaded`)).text()).split("\n");
  return new Set(files.map((file) => /.*node_modules[\\/]([^\\/]+)/.exec(file)?.[1]));
};

it("loads Express without its parsers of bodies and queries, and without serving files", async () => {
  expect((await fetch(`${url}/ok`)).status).toBe(200);
  const packages = await loaded();
  expect(packages).toContain("express");
  expect(packages).toContain("pino");
  const deferred = ["body-parser", "iconv-lite", "qs", "side-channel", "send", "mime-db", "thread-stream"];
  for (const name of deferred) expect(packages).not.toContain(name);
});

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const JSON_BODY = { "content-type": "application/json" };
const REQUESTS: readonly [string, RequestInit?][] = [
  ["/json", { method: "POST", headers: JSON_BODY, body: '{"a":[1]}' }],
  ["/form", { method: "POST", headers: FORM, body: "a[b]=1&a[c]=2" }],
  ["/text", { method: "POST", headers: { "content-type": "text/plain" }, body: "hello" }],
  ["/query?a[b]=1&a[c][]=2"],
  ["/formats", { headers: { accept: "text/html" } }],
  ["/formats", { headers: { accept: "image/png" } }],
  ["/cookie"],
  ["/file"],
  ["/file", { headers: { range: "bytes=0-3" } }],
  ["/files/app.mjs"],
  ["/missing"],
];
const OF_EXPRESS = /^(content-(?!security)|etag|set-cookie|vary|accept-ranges|last-modified)/;

it("an app that uses all of Express answers as it does without graph-serve", async () => {
  const { app } = (await import(pathToFileURL(join(project.dir, "app.mjs")).href)) as {
    app: RequestListener;
  };
  const alone = createServer(app).listen(0, "127.0.0.1");
  await once(alone, "listening");
  const { port } = alone.address() as AddressInfo;
  for (const [path, init] of REQUESTS) {
    const [ours, theirs] = await Promise.all([
      answerOf(`${url}${path}`, init),
      answerOf(`http://127.0.0.1:${port}${path}`, init),
    ]);
    expect(ours, path).toEqual(theirs);
  }
  alone.close();
  expect(await (await fetch(`${url}/file`)).text()).toBe(
    await readFile(join(project.dir, "app.mjs"), "utf8"),
  );
  expect(await loaded()).toContain("body-parser");
});

async function answerOf(address: string, init?: RequestInit) {
  const response = await fetch(address, init);
  // The middleware before the app adds Origin.
  const given = [...response.headers].map(([name, value]) => [name, value.replace(/^Origin(, )?/, "")]);
  const headers = given.filter(([name = "", value]) => OF_EXPRESS.test(name) && value !== "");
  return { status: response.status, headers, body: await response.text() };
}
