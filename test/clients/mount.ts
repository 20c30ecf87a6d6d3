/** `useStream` in a mounted React component with its own jsdom window; fetch and signals remain those of Node. */
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

export interface Mounted extends MountedHook<Stream> {
  /** The text of the last message in every render. */
  readonly texts: string[];
}

/** The parts of jsdom used here; the package has no types. */
interface Window {
  navigator: unknown;
  document: { body: unknown; createElement(tag: string): never };
}
const { JSDOM } = createRequire(import.meta.url)("jsdom") as {
  JSDOM: new (html: string, options: { url: string }) => { window: Window };
};

/** React reads these globals when it is loaded, so they must be set before. */
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

/** A mounted component that calls a hook, and the hook's latest result. */
export interface MountedHook<Result> {
  readonly stream: Result;
  /** Resolves when `seen` accepts a render, immediately if it accepts the last one. */
  until(seen: (stream: Result) => boolean): Promise<void>;
  unmount(): void;
}

/** `load` returns the hook to call: React and its dependents are imported after the window exists. */
export async function mountHook<Result>(load: () => Promise<() => Result>): Promise<MountedHook<Result>> {
  const { document } = openWindow();
  const { createElement, useEffect } = await import("react");
  const { createRoot } = await import("react-dom/client");
  const useHook = await load();

  let last: { stream: Result } | undefined;
  const watchers = new Set<() => void>();
  const Probe = () => {
    last = { stream: useHook() };
    useEffect(() => watchers.forEach((watch) => watch()));
    return null;
  };
  const root = createRoot(document.createElement("div"));
  onTestFinished(() => root.unmount());
  const mounted = new Promise<void>((resolve) => watchers.add(resolve));
  root.render(createElement(Probe));
  await mounted;

  const latest = (): Result => {
    if (!last) throw new Error("nothing is mounted");
    return last.stream;
  };
  return {
    get stream() {
      return latest();
    },
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

export async function mount(options: UseStreamOptions<State>): Promise<Mounted> {
  const texts: string[] = [];
  const mounted = await mountHook(async () => {
    const { useStream } = await import("@langchain/langgraph-sdk/react");
    return () => {
      const stream = useStream<State>(options);
      // Reading the messages makes the hook request the stream modes that contain them.
      texts.push(textOf(stream.messages.at(-1)));
      return stream;
    };
  });
  return Object.defineProperties({ texts } as Mounted, Object.getOwnPropertyDescriptors(mounted));
}

export const textOf = (message: Message | undefined): string =>
  typeof message?.content === "string" ? message.content : JSON.stringify(message?.content ?? "");
