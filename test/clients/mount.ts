/** `useStream` in a mounted React component, in a jsdom window of its own; fetch and signals stay Node's. */
import { createRequire } from "node:module";
import type { Message } from "@langchain/langgraph-sdk";
import type { useStream as UseStreamHook, UseStreamOptions } from "@langchain/langgraph-sdk/react";
import { onTestFinished } from "vitest";

export interface State extends Record<string, unknown> {
  messages: Message[];
  answer?: string;
  log?: string[];
}

export type Stream = ReturnType<typeof UseStreamHook<State>>;

export interface Mounted {
  /** What the component's last render got. */
  readonly stream: Stream;
  /** What every render saw of the last message. */
  readonly texts: string[];
  /** Settles when a render sees what `seen` looks for; at once if the last one did. */
  until(seen: (stream: Stream) => boolean): Promise<void>;
  /** As when its page is closed: the component goes. */
  unmount(): void;
}

/** The few things of jsdom that are used here; the package brings no types. */
interface Window {
  navigator: unknown;
  document: { body: unknown; createElement(tag: string): never };
}
const { JSDOM } = createRequire(import.meta.url)("jsdom") as {
  JSDOM: new (html: string, options: { url: string }) => { window: Window };
};

/** React looks for these three when it is loaded, so that they must be there before. */
function openWindow(): Window {
  const scope = globalThis as { window?: Window };
  if (scope.window) return scope.window;
  const { window } = new JSDOM("<!doctype html><body></body>", { url: "http://localhost/" });
  for (const [name, value] of Object.entries({
    window,
    document: window.document,
    navigator: window.navigator,
  })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return window;
}

export async function mount(options: UseStreamOptions<State>): Promise<Mounted> {
  const { document } = openWindow();
  const { createElement, useEffect } = await import("react");
  const { createRoot } = await import("react-dom/client");
  const { useStream } = await import("@langchain/langgraph-sdk/react");

  let stream: Stream | undefined;
  const texts: string[] = [];
  const watchers = new Set<() => void>();
  const Probe = () => {
    stream = useStream<State>(options);
    // Reading them asks for the stream modes that carry them.
    texts.push(textOf(stream.messages.at(-1)));
    useEffect(() => watchers.forEach((watch) => watch()));
    return null;
  };
  const root = createRoot(document.createElement("div"));
  onTestFinished(() => root.unmount());
  const mounted = new Promise<void>((resolve) => watchers.add(resolve));
  root.render(createElement(Probe));
  await mounted;

  const latest = (): Stream => {
    if (!stream) throw new Error("nothing is mounted");
    return stream;
  };
  return {
    get stream() {
      return latest();
    },
    texts,
    until: (seen) =>
      new Promise((resolve) => {
        const look = () => {
          if (!seen(latest())) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    unmount: () => root.unmount(),
  };
}

export const textOf = (message: Message | undefined): string =>
  typeof message?.content === "string" ? message.content : JSON.stringify(message?.content ?? "");
