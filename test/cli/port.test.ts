import { execFileSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenAt } from "../../src/cli/dev/dev-server.js";
import { ConfigError } from "../../src/support/errors.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { createProject, echoGraph, type Project } from "./harness.js";

const HOST = "127.0.0.1";
let project: Project;
let service: Service;
let holder: Server;
let taken: number;
let server: RunningServer | undefined;

beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
  service = await openService({ cwd: project.dir, graphs: { agent: "./graph.ts" } });
  holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, HOST, resolve));
  taken = (holder.address() as AddressInfo).port;
});
afterEach(async () => {
  await server?.close(0);
  server = undefined;
  await service.close(0);
  await new Promise((resolve) => holder.close(resolve));
  await project.remove();
});

function hasLsof(): boolean {
  try {
    execFileSync("lsof", ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("the port", () => {
  it("the next free port is used if the default port is taken", async () => {
    server = await listenAt(service, { host: HOST, port: taken, mayMove: true });
    expect(server.port).toBeGreaterThan(taken);
    expect((await fetch(`${server.url}/ok`)).status).toBe(200);
  });

  it("a requested port that is taken is an error", async () => {
    await expect(listenAt(service, { host: HOST, port: taken, mayMove: false })).rejects.toThrow(ConfigError);
  });

  it.skipIf(!hasLsof())("the error names the process that uses the port", async () => {
    await expect(listenAt(service, { host: HOST, port: taken, mayMove: false })).rejects.toThrow(
      new RegExp(`port ${taken} on ${HOST} is in use by \\S.* \\(pid ${process.pid}\\)`),
    );
  });
});
