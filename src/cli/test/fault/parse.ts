import { InvalidRequestError } from "../../../errors.js";

/** Where a run is broken. */
export type Fault =
  | { kind: "kill-after"; node: string }
  /** The process dies as it writes a checkpoint. */
  | { kind: "checkpoint-write" }
  /** The client leaves in the middle. */
  | { kind: "disconnect" };

/** @throws InvalidRequestError (`invalid_request`) */
export function parseFault(text: string): Fault {
  const node = /^kill-after=(.+)$/.exec(text)?.[1];
  if (node !== undefined) return { kind: "kill-after", node };
  if (text === "checkpoint-write" || text === "disconnect") return { kind: text };
  throw new InvalidRequestError(`unknown fault "${text}"`, undefined, {
    hint: "there are kill-after=NODE, checkpoint-write and disconnect",
  });
}

export const faultText = (fault: Fault): string =>
  fault.kind === "kill-after" ? `kill-after=${fault.node}` : fault.kind;
