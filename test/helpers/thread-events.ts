/** The events of a thread as a client without any library reads them. */
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
  /** All that have come. */
  readonly events: ThreadEvent[];
  /** The same as it came. */
  readonly text: string;
  /** Settles with all that have come, once one is what is looked for. */
  until(seen: (event: ThreadEvent) => boolean): Promise<ThreadEvent[]>;
  /** Settles when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Open a stream of events, of every channel unless the filter says otherwise. */
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
        void ended.then(() => reject(new Error(`the stream ended before it came:\n${text}`)));
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
    // The test has left.
  }
}

/** Send a command; its answer's body. */
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

/** Whether an event is the last of a run, of the one named if one is. */
export const isLast =
  (runId = "") =>
  ({ event_id, method, params }: ThreadEvent): boolean =>
    method === "lifecycle" &&
    params.namespace.length === 0 &&
    LAST.includes(String(params.data.event)) &&
    event_id.startsWith(`synth:${runId}`);

/** What the events say, in short: `method event`, below the graph itself with the nodes on the way. */
export const outline = (events: readonly ThreadEvent[]): string[] =>
  events.map(({ method, params: { namespace, data } }) =>
    [
      ...namespace.map((segment) => segment.split(":", 1)[0]),
      [method, typeof data?.event === "string" ? data.event : ""].join(" ").trim(),
    ].join(" "),
  );
