import { Type, type Static } from "@sinclair/typebox";
import {
  AnyObject,
  Limit,
  Nullable,
  Offset,
  Opt,
  Selected,
  Selection,
  SortOrder,
  StringEnum,
  Timestamp,
  Uuid,
} from "./common.js";
import { RunCreateRequest } from "./run.js";

const run = RunCreateRequest.properties;

/** What a cron's runs are asked for with; what only makes sense now, such as a checkpoint, is left out. */
const runFields = {
  input: run.input,
  config: run.config,
  context: run.context,
  interrupt_before: run.interrupt_before,
  interrupt_after: run.interrupt_after,
  webhook: run.webhook,
  stream_mode: run.stream_mode,
  stream_subgraphs: run.stream_subgraphs,
  stream_resumable: run.stream_resumable,
  durability: run.durability,
  multitask_strategy: run.multitask_strategy,
  checkpoint_during: run.checkpoint_during,
};

export const CRON_RUN_FIELDS = Object.keys(runFields) as (keyof typeof runFields)[];

const Schedule = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "Minute, hour, day, month and weekday, such as `0 8 * * 1-5`.",
});

const scheduleFields = {
  timezone: Opt(Type.String({ maxLength: 100 }), {
    description:
      "Time zone of the IANA that the schedule is read in, such as `Europe/Berlin`; UTC when left out.",
  }),
  on_run_completed: Opt(StringEnum(["delete", "keep"], { default: "delete" }), {
    description: "What becomes of the thread of each run, where the cron has none.",
  }),
  enabled: Opt(Type.Boolean({ default: true }), {
    description: "False: nothing runs until it is true again.",
  }),
  metadata: Opt(AnyObject(), { description: "Metadata of the cron, and of its runs." }),
};

const EndTime = Type.String({ format: "date-time" });

export const CronCreateRequest = Type.Object(
  {
    assistant_id: run.assistant_id,
    schedule: Schedule,
    ...scheduleFields,
    end_time: Opt(EndTime, { description: "Nothing runs after this time." }),
    ...runFields,
  },
  { title: "CronCreateRequest", description: "A run to execute again and again." },
);
export type CronCreateRequest = Static<typeof CronCreateRequest>;

export const CronPatchRequest = Type.Object(
  {
    schedule: Opt(Schedule),
    ...scheduleFields,
    end_time: Opt(EndTime, { description: "Nothing runs after this time; null for no end." }),
    ...runFields,
  },
  { title: "CronPatchRequest", description: "Changes of a cron; fields left out stay as they are." },
);
export type CronPatchRequest = Static<typeof CronPatchRequest>;

export const CronModel = Type.Object(
  {
    cron_id: Uuid("Id of the cron."),
    assistant_id: Type.String({ description: "Assistant of its runs, as the request named it." }),
    thread_id: Nullable(Uuid("Thread of its runs."), {
      description: "Thread of its runs; null where each has one of its own.",
    }),
    schedule: Type.String({ description: "Minute, hour, day, month and weekday." }),
    timezone: Nullable(Type.String(), { description: "Time zone of the schedule; null for UTC." }),
    enabled: Type.Boolean({ description: "Whether it runs." }),
    end_time: Nullable(Timestamp("Nothing runs after it."), {
      description: "Nothing runs after it; null for no end.",
    }),
    next_run_date: Nullable(Timestamp("When it runs next."), {
      description: "When it runs next; null when it is not enabled, or its end has come.",
    }),
    on_run_completed: StringEnum(["delete", "keep"], {
      description: "What becomes of the thread of each run, where the cron has none.",
    }),
    payload: AnyObject({ description: "What its runs are asked for with." }),
    metadata: AnyObject({ description: "Metadata of the cron, and of its runs." }),
    user_id: Nullable(Type.String(), {
      description: "The user who created it; null without authentication.",
    }),
    created_at: Timestamp("When it was made."),
    updated_at: Timestamp("When it was last changed."),
    last_error: Nullable(Type.String(), {
      description: "Why its latest run was refused; null when it was accepted.",
    }),
  },
  { title: "CronModel", description: "A run that is executed again and again." },
);
export type Cron = Static<typeof CronModel>;

export const CRON_FIELDS = [
  "cron_id",
  "assistant_id",
  "thread_id",
  "schedule",
  "timezone",
  "enabled",
  "end_time",
  "next_run_date",
  "on_run_completed",
  "payload",
  "metadata",
  "user_id",
  "created_at",
  "updated_at",
  "last_error",
] as const satisfies readonly (keyof Cron)[];

export const SelectedCron = Selected(CronModel, "SelectedCron");

const CRON_SORT_FIELDS = [
  "cron_id",
  "assistant_id",
  "thread_id",
  "created_at",
  "updated_at",
  "next_run_date",
] as const;

const cronFilter = {
  assistant_id: Opt(Type.String(), { description: "Only crons of this assistant: a graph id or its UUID." }),
  thread_id: Opt(Uuid("Id of a thread."), { description: "Only crons of this thread." }),
  enabled: Opt(Type.Boolean(), { description: "Only crons that are enabled, or only those that are not." }),
  metadata: Opt(AnyObject(), { description: "Only crons whose metadata contains this object." }),
};

export const CronSearchRequest = Type.Object(
  {
    ...cronFilter,
    limit: Opt(Limit),
    offset: Opt(Offset),
    sort_by: Opt(StringEnum(CRON_SORT_FIELDS, { default: "created_at" }), {
      description: "Field to sort by.",
    }),
    sort_order: Opt(SortOrder),
    // `now` is a field of LangGraph's rows; it is taken, and answered with nothing.
    select: Opt(Selection([...CRON_FIELDS, "now"])),
  },
  { title: "CronSearchRequest", description: "Filters, order, page and fields of a search for crons." },
);
export type CronSearchRequest = Static<typeof CronSearchRequest>;

export const CronCountRequest = Type.Object(cronFilter, {
  title: "CronCountRequest",
  description: "Filters of a count of crons.",
});
export type CronCountRequest = Static<typeof CronCountRequest>;
