/** Reads the events of a thread without a client library. */
import { onTestFinished } from "vitest";
import type { Answer, TestServer } from "./app.js";

export interface ThreadEvent {
  event_id: string;
  seq: number;
  method: string;
  params: { namespace: string[]; node?: string; data: Record<string, unknown> };
}

type Sender = Pick<TestServer, "fetch" | "request">;

export const EVERY_CHANNEL = [
  ...["values", "updates", "messages", "tools", "lifecycle"],
  ...["input", "checkpoints", "tasks", "custom"],
];

export interface OpenEvents {
  /** All events received so far. */
  readonly events: ThreadEvent[];
  /** The raw text of the stream. */
  readonly text: string;
  /** Resolves with all events once one matches; rejects if the stream ends first. */
  until(seen: (event: ThreadEvent) => boolean): Promise<ThreadEvent[]>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a stream of events on all channels, unless `filter` restricts them. */
export async function openEvents(
  server: Sender,
  threadId: string,
  filter: object = {},
  headers: Record<string, string> = {},
): Promise<OpenEvents> {
  const leave = new AbortController();
  const body = { channels: EVERY_CHANNEL, ...filter };
  const response = await server.fetch("POST", `/threads/${threadId}/stream/events`, body, {
    headers,
    signal: leave.signal,
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  onTestFinished(() => leave.abort());
  return follow(response, leave);
}

function follow(response: Response, leave: AbortController): OpenEvents {
  const events: ThreadEvent[] = [];
  const watchers = new Set<() => void>();
  let text = "";
  const ended = read(response, (line) => {
    text += `${line}\n`;
    if (line.startsWith("data: ")) events.push(JSON.parse(line.slice(6)) as ThreadEvent);
    for (const watch of [...watchers]) watch();
  });
  return {
    events,
    get text() {
      return text;
    },
    ended,
    close: () => leave.abort(),
    until: (seen) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!events.some(seen)) return;
          watchers.delete(look);
          resolve([...events]);
        };
        watchers.add(look);
        look();
        void ended.then(() => reject(new Error(`the stream ended without the expected event:\n${text}`)));
      }),
  };
}

async function read(response: Response, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(take);
    }
  } catch {
    // The test has ended the request.
  }
}

/** Sends a command and returns the response body. */
export async function command(
  server: Pick<TestServer, "request">,
  threadId: string,
  method: string,
  params: object,
  headers?: Record<string, string>,
): Promise<CommandBody> {
  const answer: Answer = await server.request(
    "POST",
    `/threads/${threadId}/commands`,
    { id: 1, method, params },
    headers,
  );
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body as CommandBody;
}

export interface CommandBody {
  type: "success" | "error";
  id: number;
  result: { run_id: string } & Record<string, unknown>;
  error?: string;
  message?: string;
  meta?: { thread_id: string; applied_through_seq: number };
}

const LAST = ["completed", "failed", "interrupted"];

/** Whether an event is the last one of any run, or of the given run. */
export const isLast =
  (runId = "") =>
  ({ event_id, method, params }: ThreadEvent): boolean =>
    method === "lifecycle" &&
    params.namespace.length === 0 &&
    LAST.includes(String(params.data.event)) &&
    event_id.startsWith(`synth:${runId}`);

/** Summarizes events as `method event`, with the path of nodes for subgraphs. */
export const outline = (events: readonly ThreadEvent[]): string[] =>
  events.map(({ method, params: { namespace, data } }) =>
    [
      ...namespace.map((segment) => segment.split(":", 1)[0]),
      [method, typeof data?.event === "string" ? data.event : ""].join(" ").trim(),
    ].join(" "),
  );
