/** Event streaming: the protocol of a thread's events and commands, used by newer clients. */
import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import { AnyObject, Opt, StringEnum } from "./common.js";
import { CommandModel } from "./command.js";

export const CHANNELS = [
  "values",
  "updates",
  "messages",
  "tools",
  "lifecycle",
  "input",
  "checkpoints",
  "tasks",
  "custom",
] as const;

const MOST_CHANNELS = 100;
const MOST_NAMESPACES = 200;
const MOST_SEGMENTS = 100;

const Namespace = Type.Array(Type.String(), {
  maxItems: MOST_SEGMENTS,
  description: "Path of the subgraph: empty for the root graph, otherwise one `node:task` segment per level.",
});

const Channels = Type.Array(Type.String({ pattern: `^(${CHANNELS.join("|")}|custom:.+)$` }), {
  minItems: 1,
  maxItems: MOST_CHANNELS,
  description: `Channels: ${CHANNELS.join(", ")}, or custom:<name>.`,
});

const Filter = {
  channels: Channels,
  namespaces: Opt(Type.Array(Namespace, { maxItems: MOST_NAMESPACES }), {
    description:
      "Only events at or below one of these namespaces; a segment without `:` matches every task of its node.",
  }),
  depth: Opt(Type.Integer({ minimum: 0 }), {
    description: "Maximum number of levels below `namespaces`.",
  }),
};

export const EventStreamRequest = Type.Object(
  {
    ...Filter,
    since: Opt(Type.Integer({ minimum: 0 }), { description: "Only events with a higher `seq`." }),
  },
  { title: "EventStreamRequest", description: "Which events of a thread to stream." },
);
export type EventFilter = Static<typeof EventStreamRequest>;

export const ProtocolCommand = Type.Object(
  {
    id: Type.Integer({ minimum: 0, description: "Returned in the reply." }),
    method: Type.String({
      description: "`run.start`, `input.respond`, `state.get` or `agent.getTree`.",
    }),
    params: Opt(AnyObject(), { description: "Parameters of the method." }),
  },
  { title: "ProtocolCommand", description: "A command to a thread." },
);
export type ProtocolCommand = Static<typeof ProtocolCommand>;

const Strategy = StringEnum(["enqueue", "reject", "interrupt", "rollback"]);

const RunStartParams = Type.Object({
  assistant_id: Type.String(),
  input: Type.Optional(Type.Unknown()),
  config: Opt(AnyObject()),
  context: Opt(AnyObject()),
  metadata: Opt(AnyObject()),
  multitask_strategy: Opt(Strategy),
  /** Spelling of SDK clients before 1.15. */
  multitaskStrategy: Opt(Strategy),
});
export type RunStartParams = Static<typeof RunStartParams>;

const Answer = { namespace: Type.Optional(Namespace), interrupt_id: Type.String(), response: Type.Unknown() };

const InputRespondParams = Type.Object({
  namespace: Answer.namespace,
  interrupt_id: Type.Optional(Answer.interrupt_id),
  response: Type.Optional(Answer.response),
  responses: Type.Optional(Type.Array(Type.Object(Answer), { minItems: 1, maxItems: 1000 })),
  update: CommandModel.properties.update,
  goto: CommandModel.properties.goto,
  config: Opt(AnyObject()),
  context: Opt(AnyObject()),
  metadata: Opt(AnyObject()),
  strict_resume: Opt(Type.Boolean()),
});
export type InputRespondParams = Static<typeof InputRespondParams>;

const StateGetParams = Type.Object({
  namespace: Type.Optional(Namespace),
  keys: Opt(Type.Array(Type.String(), { maxItems: 1000 })),
});
export type StateGetParams = Static<typeof StateGetParams>;

const GetTreeParams = Type.Object({ run_id: Opt(Type.String()) });
export type GetTreeParams = Static<typeof GetTreeParams>;

const SubscribeParams = Type.Object({ ...EventStreamRequest.properties });
const UnsubscribeParams = Type.Object({ subscription_id: Type.String() });
export type UnsubscribeParams = Static<typeof UnsubscribeParams>;

export const COMMAND_PARAMS = {
  "run.start": RunStartParams,
  "input.respond": InputRespondParams,
  "state.get": StateGetParams,
  "agent.getTree": GetTreeParams,
} as const;
export type CommandMethod = keyof typeof COMMAND_PARAMS;

/** Parameters of the methods that are only available on a WebSocket. */
export const SOCKET_PARAMS = {
  "subscription.subscribe": SubscribeParams,
  "subscription.unsubscribe": UnsubscribeParams,
} as const;

const COMMAND_ERRORS = [
  "invalid_argument",
  "unknown_command",
  "unknown_error",
  "no_such_run",
  "no_such_subscription",
  "no_such_namespace",
  "no_such_interrupt",
  "no_such_checkpoint",
  "permission_denied",
  "not_supported",
] as const;
export type CommandErrorCode = (typeof COMMAND_ERRORS)[number];

/** A client error, or the reason why a command was rejected; sent in the reply, not as an HTTP status. */
export class CommandError extends Error {
  readonly code: CommandErrorCode;

  constructor(code: CommandErrorCode, message: string) {
    super(message);
    this.name = "CommandError";
    this.code = code;
  }
}

const Meta = Type.Object(
  {
    thread_id: Type.String({ description: "The thread." }),
    applied_through_seq: Type.Integer({
      description: "Last event of the thread before the command took effect; 0 if unknown.",
    }),
  },
  { description: "Position in the thread's events." },
);

export const CommandAnswer = Type.Object(
  {
    type: StringEnum(["success", "error"], { description: "Whether the command succeeded." }),
    id: Type.Union([Type.Integer(), Type.Null()], { description: "Id of the command." }),
    result: Type.Optional(
      AnyObject({ description: "Result of the command: {run_id} if a run was started." }),
    ),
    error: Type.Optional(StringEnum(COMMAND_ERRORS, { description: "Code of the error." })),
    message: Type.Optional(Type.String({ description: "What is wrong." })),
    meta: Type.Optional(Meta),
  },
  { title: "CommandAnswer", description: "Reply to a command." },
);
export type CommandAnswer = Static<typeof CommandAnswer>;

export interface CommandResult {
  result: Record<string, unknown>;
  threadId: string;
  appliedThroughSeq: number;
}

/** An event of a thread to be sent; `data` is the whole envelope as JSON text. */
export interface ProtocolFrame {
  readonly id: string;
  readonly event: string;
  readonly data: string;
  readonly seq: number;
  readonly channel: string;
  readonly namespace: readonly string[];
  readonly endsRun?: boolean;
}

/** The events of a thread that match one client's filter. */
export interface EventStream {
  thread_id: string;
  frames: AsyncIterable<readonly ProtocolFrame[]>;
  /** Sequence number of the last event when the client connected. */
  lastSeq: number;
  /** Retained events, regardless of the client's filter. */
  retained(): readonly ProtocolFrame[];
  /** The client disconnected: its frames end, its runs continue. */
  disconnect(): void;
}

export function passes(
  { channels, namespaces, depth, since }: EventFilter,
  { channel, namespace, seq }: Pick<ProtocolFrame, "channel" | "namespace" | "seq">,
): boolean {
  if (since != null && seq <= since) return false;
  if (!channels.includes(channel) && !(channel.startsWith("custom:") && channels.includes("custom")))
    return false;
  if (!namespaces?.length) return true;
  return namespaces.some(
    (prefix) => isBelow(namespace, prefix) && (depth == null || namespace.length - prefix.length <= depth),
  );
}

const isBelow = (namespace: readonly string[], prefix: readonly string[]): boolean =>
  prefix.length <= namespace.length &&
  prefix.every((segment, at) => namespace[at] === segment || nodeOf(namespace[at] ?? "") === segment);

export const nodeOf = (segment: string): string => segment.split(":", 1)[0] ?? "";
