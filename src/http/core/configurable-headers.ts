/** The setting configurable_headers: request headers in `config.configurable` of the runs that a request starts. */
import type { IncomingHttpHeaders } from "node:http";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { ProtocolCommand } from "../../models/protocol.js";
import type { CallerService } from "../../service/service.js";
import type { Route } from "./route.js";

/** Patterns do not select these headers: a graph gets a credential only if the setting names its header. */
const CREDENTIALS = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

/** As on LangGraph's server. */
const DEFAULT_INCLUDES = ["x-*", "user-agent"];

type Patterns = NonNullable<CallerService["settings"]["configurable_headers"]>;
type CopyHeaders = (body: unknown, headers: IncomingHttpHeaders) => unknown;

/** Returns the function that adds headers to a body; undefined without the setting, and for routes that start no run. */
export function headersFor({ body, id }: Route, patterns: Patterns | undefined): CopyHeaders | undefined {
  if (!patterns || !body) return undefined;
  const select = selector(patterns);
  if (id === "send_command")
    return (sent, headers) => withCommandHeaders(sent as ProtocolCommand, select(headers));
  const { properties } = (body.type === "array" ? body.items : body) as { properties?: object };
  if (!properties || !("config" in properties && "input" in properties)) return undefined;
  return (sent, headers) => {
    const selected = select(headers);
    return Array.isArray(sent)
      ? sent.map((request: JsonObject) => withHeaders(request, selected))
      : withHeaders(sent as JsonObject, selected);
  };
}

/** Commands over a WebSocket get the headers of the request that opened it. */
export function headersOfSocket(
  headers: IncomingHttpHeaders,
  patterns: Patterns | undefined,
): ((command: ProtocolCommand) => ProtocolCommand) | undefined {
  if (!patterns) return undefined;
  const selected = selector(patterns)(headers);
  return (command) => withCommandHeaders(command, selected);
}

const STARTING = new Set(["run.start", "input.respond"]);

function withCommandHeaders(command: ProtocolCommand, headers: JsonObject): ProtocolCommand {
  if (!STARTING.has(command.method)) return command;
  return { ...command, params: withHeaders(command.params ?? {}, headers) };
}

/** Headers replace values of the body, as on LangGraph's server. Invalid values are left to the validation. */
function withHeaders(request: JsonObject, headers: JsonObject): JsonObject {
  const { config } = request;
  if (Object.keys(headers).length === 0 || (config != null && !isRecord(config))) return request;
  const configurable = config?.configurable ?? {};
  if (!isRecord(configurable)) return request;
  return { ...request, config: { ...config, configurable: { ...configurable, ...headers } } };
}

function selector({
  includes = DEFAULT_INCLUDES,
  excludes = [],
}: Patterns): (headers: IncomingHttpHeaders) => JsonObject {
  const [included, excluded] = [includes, excludes].map((patterns) => patterns.map(toRegExp));
  const named = new Set(includes.map((name) => name.toLowerCase()));
  return (headers) =>
    Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) =>
          (named.has(name) || (!CREDENTIALS.has(name) && included?.some((pattern) => pattern.test(name)))) &&
          !excluded?.some((pattern) => pattern.test(name)),
      ),
    );
}

const toRegExp = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .toLowerCase()
      .replace(/[\\^$+?.()|[\]{}]/g, "\\$&")
      .replaceAll("*", ".*")}$`,
  );
