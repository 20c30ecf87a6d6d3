/** A collector of traces: an OTLP receiver on loopback, which records the spans of every batch. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished, vi } from "vitest";
import { STEP } from "../../src/tracing/names.js";

interface OtlpValue {
  stringValue?: string;
  intValue?: number;
  doubleValue?: number;
  boolValue?: boolean;
}

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: OtlpValue }[];
  links: { traceId: string; spanId: string }[];
  status: { code: number };
}

export interface Received extends Omit<OtlpSpan, "attributes"> {
  attributes: Record<string, string | number | boolean | undefined>;
}

export interface Collector {
  spans: Received[];
  /** The path and the headers of each request. */
  requests: { path: string | undefined; headers: IncomingHttpHeaders }[];
  /** The tree of a trace, one line for each span: its name below that of its parent. */
  tree(traceId: string): string[];
  named(name: string): Received[];
}

const KINDS = ["", "internal", "server", "client", "producer", "consumer"];

/** Starts a collector and names it in the environment. `answer` sets the status of its responses; undefined never answers. */
export async function startCollector(
  answer: () => number | undefined | Promise<number> = () => 200,
): Promise<Collector> {
  const spans: Received[] = [];
  const requests: Collector["requests"] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url, headers: request.headers });
    void json(request).then(async (body) => {
      const status = await answer();
      if (status === undefined) return;
      if (status === 200) spans.push(...spansOf(body));
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    vi.unstubAllEnvs();
  });
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const linesBelow = (parent: string | undefined, of: Received[], depth: number): string[] =>
    of
      .filter(({ parentSpanId }) =>
        parent === undefined ? isRoot(parentSpanId, of) : parentSpanId === parent,
      )
      .sort(byStart)
      .flatMap(({ name, kind, spanId }) => [
        `${"  ".repeat(depth)}${name} (${KINDS[kind]})`,
        ...linesBelow(spanId, of, depth + 1),
      ]);
  return {
    spans,
    requests,
    tree: (traceId) =>
      linesBelow(
        undefined,
        spans.filter((span) => span.traceId === traceId),
        0,
      ),
    named: (name) => spans.filter((span) => span.name === name),
  };
}

const isRoot = (parent: string | undefined, of: Received[]) => !of.some(({ spanId }) => spanId === parent);

const stepOf = ({ attributes }: Received) => Number(attributes[STEP] ?? 0);

/** Nodes of several steps can start within one millisecond. */
const byStart = (a: Received, b: Received) =>
  Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)) ||
  stepOf(a) - stepOf(b) ||
  (a.name < b.name ? -1 : 1);

function spansOf(body: unknown): Received[] {
  const { resourceSpans } = body as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ attributes, ...span }) => ({
      ...span,
      attributes: Object.fromEntries(
        attributes.map(({ key, value }) => [
          key,
          value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue,
        ]),
      ),
    }));
}
