/** The probe server of several processes: combines the answers of their watchdogs, which answer even if a process is blocked. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Settings } from "../../config/settings.js";
import { ConfigError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";

/** Timeout of one watchdog, in milliseconds. */
const PROBE_MS = 1_000;

export interface ProbedProcess {
  readonly number: number;
  /** URL of its watchdog; undefined while it restarts. */
  readonly health: string | undefined;
}

type Processes = () => readonly ProbedProcess[];
type ProbeSettings = Pick<Settings, "health_port" | "host" | "stall_exit_seconds">;

export class HealthServer {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, host: string) {
    this.#server = server;
    const name = host.includes(":") ? `[${host}]` : host;
    this.url = `http://${name}:${(server.address() as AddressInfo).port}/ok`;
  }

  /** @throws ConfigError if the server cannot listen on the port (`config_invalid`) */
  static async listen(settings: ProbeSettings, processes: Processes): Promise<HealthServer> {
    const { health_port: port, host } = settings;
    const server = createServer((req, res) => {
      const path = (req.url ?? "").split("?", 1)[0] ?? "";
      if (path === "/ok" || path === "/api/health") void answer(res, settings, processes());
      else respond(res, 404, { error: `route ${path} does not exist` });
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, resolve);
      });
    } catch (error) {
      throw new ConfigError(`cannot listen on health_port ${port} of ${host}: ${errorMessage(error)}`, {
        hint: "choose another health_port",
      });
    }
    return new HealthServer(server, host);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

interface Stall {
  process: number;
  [field: string]: unknown;
}

/**
 * One blocked process is killed by its watchdog and restarted, while the others serve. 503 asks for a restart of all
 * processes: if none can serve, or if blocked processes are not killed.
 */
async function answer(
  res: ServerResponse,
  { stall_exit_seconds }: ProbeSettings,
  processes: readonly ProbedProcess[],
): Promise<void> {
  const found = await Promise.all(processes.map(stallOf));
  const stalls = found.filter((stall) => stall !== undefined);
  const ok = stalls.length === 0 || (stalls.length < processes.length && stall_exit_seconds > 0);
  respond(res, ok ? 200 : 503, { ok, ...(stalls.length > 0 && { stalled: stalls }) });
}

async function stallOf({ number, health }: ProbedProcess): Promise<Stall | undefined> {
  if (health === undefined) return undefined;
  try {
    const answered = await fetch(health, { signal: AbortSignal.timeout(PROBE_MS) });
    if (answered.ok) return undefined;
    const { ok: _, ...fields } = (await answered.json()) as Record<string, unknown>;
    return { process: number, ...fields };
  } catch {
    // It has just ended; the primary restarts it.
    return undefined;
  }
}

function respond(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify(body));
}
