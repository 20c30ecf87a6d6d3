import { Type } from "../../support/schema-builder.js";
import { CommandAnswer, EventStreamRequest, ProtocolCommand } from "../../models/protocol.js";
import type { executeCommand } from "../core/protocol-command.js";
import { route } from "../core/route.js";
import { json } from "../core/reply.js";

const COMMANDS = [
  "Commands to a thread, as sent by `@langchain/react` 1 and newer and by `client.threads.stream()` of the SDK.",
  "`run.start` {assistant_id, input, config?, metadata?, multitask_strategy?} starts a run in the background, creates",
  "the thread if needed, and returns {run_id}; on an interrupted thread, `input` is the answer to the interrupt.",
  "On a busy thread the run waits for its turn; `interrupt` and `rollback` stop the active run.",
  "`input.respond` {namespace, interrupt_id, response}, or {responses: [...]}, with update and goto, answers pending",
  "interrupts. `state.get` {namespace, keys?} and `agent.getTree` {run_id?} only read.",
  "Errors of a command are returned with status 200: {type: error, id, error, message}.",
].join(" ");

const EVENTS = [
  "Server-sent events. Each has `id` (stable across streams and reconnects), `event` (the method) and `data`:",
  "{type: event, event_id, seq, method, params: {namespace, timestamp, node?, data}}; `seq` increases over the thread.",
  "The stream starts with the retained events, including those of the current or last run, and continues with the",
  "events of all following runs. It ends when its client disconnects. A comment line is sent every 5 seconds.",
].join(" ");

const SOCKET = [
  "Commands, replies and events are text messages with one JSON value each. `subscription.subscribe` {channels,",
  "namespaces?, depth?, since?} returns {subscription_id, replayed_events}, followed by the events;",
  "`subscription.unsubscribe` {subscription_id} stops them. An event that matches several subscriptions is sent once.",
  "Clients must not reconnect after the close codes 4404 and 4422.",
].join(" ");

/** Loaded by the first command. */
let loaded: Promise<typeof executeCommand> | undefined;

export const protocolRoutes = [
  route({
    id: "send_command",
    method: "post",
    path: "/threads/{thread_id}/commands",
    tag: "Events and commands",
    summary: "Send a command: start a run, answer an interrupt, or read state",
    description: COMMANDS,
    body: ProtocolCommand,
    responses: [{ status: 200, description: "Reply to the command.", schema: CommandAnswer }],
    errors: ["thread_not_found"],
    handle: async ({ service, params, body, serviceFor }) => {
      loaded ??= import("../core/protocol-command.js").then((command) => command.executeCommand);
      const execute = await loaded;
      return json(await execute({ service, serviceFor, threadId: params.thread_id }, body));
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
      const stream = await service.protocol.events(params.thread_id, body);
      return { kind: "stream", stream, headers: {} };
    },
  }),
  route({
    id: "open_thread_socket",
    method: "get",
    path: "/threads/{thread_id}/stream/events",
    tag: "Events and commands",
    summary: "Send commands and stream events over a WebSocket",
    description: SOCKET,
    responses: [{ status: 101, description: "The connection is upgraded to a WebSocket." }],
    errors: ["route_not_found"],
    handle: ({ service, params, serviceFor }) => ({
      kind: "socket",
      service,
      threadId: params.thread_id,
      serviceFor,
    }),
  }),
];
