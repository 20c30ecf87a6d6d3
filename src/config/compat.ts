/** The setting `compat` chooses the defaults that differ from those of LangGraph's own server. */
import { Type } from "../support/schema-builder.js";
import { choice } from "./choice.js";

export type Compat = "specification" | "langgraph";

/** Namespace from which LangGraph's server derives assistant ids. Using it here produces the same ids. */
const LANGGRAPH_NAMESPACE = "urn:uuid:6ba7b821-9dad-11d1-80b4-00c04fd430c8";

/** Defaults that each choice replaces. A setting given explicitly takes precedence. */
export const COMPAT_DEFAULTS = {
  specification: {},
  langgraph: {
    run_create_mode: "background",
    list_all_assistants: true,
    assistant_namespace: LANGGRAPH_NAMESPACE,
    on_disconnect: "continue",
    multitask_strategy: "reject",
    multitask_cancel: true,
    interrupted_run_status: "success",
    allow_unfiltered_events: true,
    on_graph_changed: "drop",
    assistants: "managed",
  },
} as const;

/** The settings that determine the defaults of other settings. */
export interface CompatChoice {
  compat?: Compat;
  hold_messages?: boolean;
}

/**
 * Defaults replaced by `compat`. With `hold_messages`, events stay refused because they carry
 * tokens and tool calls.
 */
export function compatDefaults({ compat = "specification", hold_messages }: CompatChoice): object {
  const { allow_unfiltered_events, ...others } = {
    allow_unfiltered_events: false,
    ...COMPAT_DEFAULTS[compat],
  };
  return allow_unfiltered_events && !hold_messages ? { ...others, allow_unfiltered_events } : others;
}

export const compatSettings = {
  compat: choice<Compat>(
    ["specification", "langgraph"],
    "Set of defaults: specification, or langgraph for the defaults of LangGraph's own server. Default with a langgraph.json: langgraph.",
  ),
  run_create_mode: choice<"wait" | "background">(
    ["wait", "background"],
    "Whether POST /threads/{id}/runs responds after the run has ended (wait) or immediately (background).",
  ),
  on_disconnect: choice<"cancel" | "continue">(
    ["cancel", "continue"],
    "What happens to a run when its client disconnects, unless the request sets on_disconnect.",
  ),
  multitask_strategy: choice<"enqueue" | "reject" | "rollback" | "interrupt">(
    ["enqueue", "reject", "rollback", "interrupt"],
    "What happens to a new run on a busy thread, unless the request sets multitask_strategy.",
  ),
  multitask_cancel: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Allow the strategies interrupt and rollback to stop the active run and replace it; otherwise they are rejected with 409.",
    }),
  ),
  assistants: choice<"configured" | "managed">(
    ["configured", "managed"],
    "Whether assistants are only those of the graphs (configured), or clients can also create, change and delete their own (managed).",
  ),
  on_graph_changed: choice<"refuse" | "drop">(
    ["refuse", "drop"],
    "What happens to a run that would resume a node which the graph no longer has: 409 graph_changed (refuse), or a warning, and the node is skipped (drop).",
  ),
  interrupted_run_status: choice<"interrupted" | "success">(
    ["interrupted", "success"],
    "Status of a run that stops at an interrupt; the thread status is interrupted in both cases.",
  ),
};
