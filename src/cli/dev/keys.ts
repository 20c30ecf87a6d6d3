import { spawn } from "node:child_process";
import type { CliIo } from "../io.js";

export interface KeyActions {
  reload(): void;
  openDocs(): void;
  quit(): void;
}

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** Listen to single keys; returns what stops it. Raw mode hides Ctrl-C from the process, so it is a key too. */
export function listenForKeys({ stdin }: CliIo, actions: KeyActions): () => void {
  const onData = (data: Buffer | string) => {
    const key = String(data);
    if (key === "r") actions.reload();
    else if (key === "o") actions.openDocs();
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

/** Open a page in the browser of this machine; where there is none, nothing happens. */
export function openInBrowser(url: string): void {
  const [command, ...args] = {
    darwin: ["open", url],
    win32: ["cmd", "/c", "start", "", url],
  }[process.platform as string] ?? ["xdg-open", url];
  const child = spawn(command as string, args, { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
