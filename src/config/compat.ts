/** The switch `compat`: the defaults in which LangGraph's own server differs; part of ./settings.ts. */
import { Type } from "@sinclair/typebox";

export type Compat = "specification" | "langgraph";

/** The namespace that LangGraph's server derives the ids of assistants in, so that they are the same here. */
const LANGGRAPH_NAMESPACE = "urn:uuid:6ba7b821-9dad-11d1-80b4-00c04fd430c8";

/** What each choice makes of the defaults; every one of them can be set by itself, and then holds. */
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
  },
} as const;

/** The settings that choose the defaults of others. */
export interface CompatChoice {
  compat?: Compat;
  hold_messages?: boolean;
}

/**
 * The defaults that `compat` replaces. Under `hold_messages` events stay refused, since they carry tokens and tool calls
 * too.
 */
export function compatDefaults({ compat = "specification", hold_messages }: CompatChoice): object {
  const { allow_unfiltered_events, ...others } = {
    allow_unfiltered_events: false,
    ...COMPAT_DEFAULTS[compat],
  };
  return allow_unfiltered_events && !hold_messages ? { ...others, allow_unfiltered_events } : others;
}

const choice = <T extends string>(values: readonly [T, ...T[]], description: string) =>
  Type.Optional(Type.Unsafe<T>({ type: "string", enum: [...values], default: values[0], description }));

export const compatSettings = {
  compat: choice<Compat>(
    ["specification", "langgraph"],
    "Whose defaults hold: specification, or langgraph for those of LangGraph's own server, as with a langgraph.json.",
  ),
  run_create_mode: choice<"wait" | "background">(
    ["wait", "background"],
    "Whether POST /threads/{id}/runs answers when the run has ended, or at once.",
  ),
  on_disconnect: choice<"cancel" | "continue">(
    ["cancel", "continue"],
    "What becomes of a run whose client leaves, where its request does not say.",
  ),
  multitask_strategy: choice<"enqueue" | "reject" | "rollback" | "interrupt">(
    ["enqueue", "reject", "rollback", "interrupt"],
    "What a run does on a busy thread, where its request does not say.",
  ),
  multitask_cancel: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Let the strategies interrupt and rollback stop what is in flight and take its place; they are answered 409 otherwise.",
    }),
  ),
  interrupted_run_status: choice<"interrupted" | "success">(
    ["interrupted", "success"],
    "Status of a run that stops to ask; its thread is interrupted either way.",
  ),
};
