/** Finds a port to listen on, or says who has it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ConfigError } from "../../errors.js";
import type { RunningServer } from "../../http/server.js";
import type { Service } from "../../service.js";

export interface Address {
  host: string;
  port: number;
  /** Whether the next free port will do. */
  mayMove: boolean;
}

const MOST_STEPS = 100;
const LOOKUP_MS = 2_000;

/**
 * Serve at the address, or at the next free port where that is allowed.
 * @throws ConfigError that names the process which has the port (`config_invalid`)
 */
export async function listenAt(service: Service, { host, port, mayMove }: Address): Promise<RunningServer> {
  const { startServer } = await import("../../http/server.js");
  for (let step = 0; ; step += 1) {
    try {
      return await startServer(service, { host, port: port + step });
    } catch (error) {
      if (!isPortTaken(error)) throw error;
      if (!mayMove) throw await portTaken(host, port, error);
      if (step === MOST_STEPS) throw error;
    }
  }
}

function isPortTaken(error: unknown): error is ConfigError {
  const cause = error instanceof ConfigError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === "EADDRINUSE";
}

async function portTaken(host: string, port: number, cause: ConfigError): Promise<ConfigError> {
  const holder = await holderOf(port);
  return new ConfigError(`port ${port} of ${host} is taken${holder === undefined ? "" : ` by ${holder}`}`, {
    hint: `choose another one, such as -p ${port + 1}, or -p 0 for any`,
    cause,
  });
}

/** Name and id of the process that listens on `port`, where the system tells. */
async function holderOf(port: number): Promise<string | undefined> {
  try {
    const list = promisify(execFile)("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"], {
      timeout: LOOKUP_MS,
    });
    const { stdout } = await list;
    const pid = /^p(\d+)$/m.exec(stdout)?.[1];
    const name = /^c(.+)$/m.exec(stdout)?.[1];
    return pid === undefined ? undefined : `${name ?? "a process"} (pid ${pid})`;
  } catch {
    return undefined;
  }
}
