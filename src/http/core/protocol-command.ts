/**
 * Executes commands of the event streaming protocol. Errors of a command are reported in its reply,
 * with status 200.
 */
import type { TObject } from "@sinclair/typebox";
import {
  COMMAND_PARAMS,
  CommandError,
  type CommandAnswer,
  type CommandErrorCode,
  type CommandMethod,
  type CommandResult,
  type ProtocolCommand,
} from "../../models/protocol.js";
import type { CallerService, CommandService } from "../../service/service.js";
import { GraphServeError, publicMessage } from "../../support/errors.js";
import type { ErrorCode } from "../../support/errors/codes.js";
import type { JsonObject } from "../../models/common.js";
import { validatePayload } from "./validation.js";

type Handler = (service: CallerService, threadId: string, params: never) => Promise<CommandResult>;

const HANDLERS: Record<CommandMethod, Handler> = {
  "run.start": async (service, threadId, params) => service.protocol.start(threadId, params),
  "input.respond": async (service, threadId, params) => service.protocol.respond(threadId, params),
  "state.get": async (service, threadId, params) => service.protocol.state(threadId, params),
  "agent.getTree": async (service, threadId, params) => service.protocol.tree(threadId, params),
};

/** Methods that the protocol defines but this server does not support. */
const NOT_SUPPORTED = ["state.listCheckpoints", "state.fork", "input.inject", "subscription.reconnect"];

/** Maps error codes of the service to codes of the protocol. Errors that are not listed fail the request. */
const CODES: Partial<Record<ErrorCode, CommandErrorCode>> = {
  invalid_request: "invalid_argument",
  unsupported_option: "not_supported",
  assistant_not_found: "invalid_argument",
  checkpoint_not_found: "no_such_checkpoint",
  run_not_found: "no_such_run",
  thread_busy: "invalid_argument",
  thread_changed: "invalid_argument",
  run_not_redrivable: "invalid_argument",
  graph_changed: "invalid_argument",
  graph_not_loaded: "unknown_error",
};

/** What a command is for: a thread, on behalf of a caller. */
interface CommandTarget {
  service: CallerService;
  threadId: string;
  /** Undefined if no handlers are asked about commands. */
  serviceFor?: CommandService | undefined;
}

/**
 * Executes a command.
 * @throws GraphServeError for errors that are not specific to the command, such as a thread of
 *   another caller or an unreachable storage
 */
export function executeCommand(
  { service, threadId, serviceFor }: CommandTarget,
  command: ProtocolCommand,
): Promise<CommandAnswer> {
  return commandAnswer(command.id, async () => {
    const { method } = command;
    if (!Object.hasOwn(HANDLERS, method)) throw unknownCommand(method);
    // Must match the routes of the disabled group.
    if (method === "state.get" && service.settings.disabled_routes.includes("threads"))
      throw new CommandError("not_supported", `${method} is not served: disabled_routes contains "threads"`);
    const params = await paramsOf(COMMAND_PARAMS[method as CommandMethod], command);
    const acting = serviceFor ? await serviceFor(method, threadId, params as JsonObject) : service;
    return HANDLERS[method as CommandMethod](acting, threadId, params as never);
  });
}

/** Validates the parameters of a command. @throws CommandError (`invalid_argument`) */
export async function paramsOf(schema: TObject, { params }: ProtocolCommand): Promise<unknown> {
  const given = params ?? {};
  await validatePayload(schema, given, "params");
  return given;
}

/** Builds the reply to a command from the result or error of `work`. */
export async function commandAnswer(id: number, work: () => Promise<CommandResult>): Promise<CommandAnswer> {
  try {
    const { result, threadId, appliedThroughSeq } = await work();
    const meta = { thread_id: threadId, applied_through_seq: appliedThroughSeq };
    return { type: "success", id, result, meta };
  } catch (thrown) {
    if (thrown instanceof CommandError)
      return { type: "error", id, error: thrown.code, message: thrown.message };
    const error = thrown instanceof GraphServeError ? CODES[thrown.code] : undefined;
    if (error === undefined) throw thrown;
    return { type: "error", id, error, message: publicMessage(thrown as GraphServeError) };
  }
}

function unknownCommand(method: string): CommandError {
  if (NOT_SUPPORTED.includes(method))
    return new CommandError("not_supported", `${method} is not supported by this server`);
  const known = Object.keys(HANDLERS).join(", ");
  return new CommandError(
    "unknown_command",
    `unknown command ${JSON.stringify(method.slice(0, 100))}; supported: ${known}`,
  );
}
