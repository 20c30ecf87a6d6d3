import { onTestFinished } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Logger } from "../../src/support/log.js";
import type { Authenticate } from "../../src/models/caller.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import type { Storage } from "../../src/storage/contract/storage.js";

export interface TestServiceOptions {
  graphs: Record<string, unknown>;
  settings?: Partial<Settings>;
  logger?: Logger;
  authenticate?: Authenticate;
  /** In memory by default. Closed with the service. */
  storage?: Storage;
}

/** A service in memory unless the settings say otherwise, closed at the end of the test. */
export async function openTestService(options: TestServiceOptions): Promise<Service> {
  const service = await openService(options);
  onTestFinished(() => service.close(0));
  return service;
}

/** A logger that records its lines; `of(level)` returns the messages of a level. */
export function recordingLogger() {
  const lines: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields });
  return {
    lines,
    of: (level: string) => lines.filter((line) => line.level === level).map((line) => line.message),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

export interface StreamEvent {
  id: number;
  event: string;
  data: unknown;
}

/** All frames of a stream with parsed data. */
export async function readAll(stream: {
  frames: AsyncIterable<readonly { id: number; event: string; data: string }[]>;
}) {
  const events: StreamEvent[] = [];
  for await (const batch of stream.frames) {
    for (const { id, event, data } of batch) events.push({ id, event, data: JSON.parse(data) as unknown });
  }
  return events;
}
