import { Type } from "@sinclair/typebox";
import { CommandAnswer, EventStreamRequest, ProtocolCommand } from "../../models/protocol.js";
import type { executeCommand } from "../core/protocol-command.js";
import { json, route } from "../core/route.js";

const COMMANDS = [
  "A thread by commands and events, as `@langchain/react` 1 and newer and `client.threads.stream()` of the SDK use it.",
  "`run.start` {assistant_id, input, config?, metadata?, multitask_strategy?} starts a run in the background, on a",
  "thread that is made where there is none, and answers {run_id}; a thread that asks takes `input` for the answer.",
  "On a busy thread the run waits for its turn; `interrupt` and `rollback` stop what is in flight.",
  "`input.respond` {namespace, interrupt_id, response}, or {responses: [...]}, with update and goto, answers what the",
  "thread asks. `state.get` {namespace, keys?} and `agent.getTree` {run_id?} read.",
  "Errors of a command are returned with status 200: {type: error, id, error, message}.",
].join(" ");

const EVENTS = [
  "Server-sent events. Each has `id` (the same wherever and whenever it is sent), `event` (the method) and `data`:",
  "{type: event, event_id, seq, method, params: {namespace, timestamp, node?, data}}, `seq` growing along the thread.",
  "First come the events that are kept, those of the current or last run among them, then those of every run to come,",
  "whoever starts it. The stream ends when its client leaves. A comment line is sent every 5 seconds.",
].join(" ");

const SOCKET = [
  "Commands, answers and events are text messages, each one JSON. `subscription.subscribe` {channels, namespaces?,",
  "depth?, since?} answers {subscription_id, replayed_events}, then come the events; `subscription.unsubscribe`",
  "{subscription_id} ends them. An event that several subscriptions ask for is sent once.",
  "The close codes 4404 and 4422 say that there is nothing to come back for.",
].join(" ");

/** Loaded for the first command. */
let loaded: Promise<typeof executeCommand> | undefined;

export const protocolRoutes = [
  route({
    id: "send_command",
    method: "post",
    path: "/threads/{thread_id}/commands",
    tag: "Events and commands",
    summary: "Start a run, answer an interrupt, or look",
    description: COMMANDS,
    body: ProtocolCommand,
    responses: [{ status: 200, description: "What came of the command.", schema: CommandAnswer }],
    errors: ["thread_not_found"],
    handle: async ({ service, params, body }) => {
      loaded ??= import("../core/protocol-command.js").then((command) => command.executeCommand);
      const carryOut = await loaded;
      return json(await carryOut(service, params.thread_id, body));
    },
  }),
  route({
    id: "stream_thread_events",
    method: "post",
    path: "/threads/{thread_id}/stream/events",
    tag: "Events and commands",
    summary: "Stream the events of a thread",
    description: EVENTS,
    body: EventStreamRequest,
    responses: [
      {
        status: 200,
        description: "The events that pass the filter.",
        schema: Type.String({ description: "The event stream." }),
        contentType: "text/event-stream",
      },
    ],
    errors: ["thread_not_found", "too_many_streams"],
    handle: async ({ service, params, body }) => {
      const stream = await (await service.protocol).events(params.thread_id, body);
      return { kind: "stream", stream, headers: {} };
    },
  }),
  route({
    id: "open_thread_socket",
    method: "get",
    path: "/threads/{thread_id}/stream/events",
    tag: "Events and commands",
    summary: "The same over a WebSocket",
    description: SOCKET,
    responses: [{ status: 101, description: "The connection is a WebSocket." }],
    errors: ["route_not_found"],
    handle: ({ service, params }) => ({ kind: "socket", service, threadId: params.thread_id }),
  }),
];
