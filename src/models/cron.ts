import type { Static } from "@sinclair/typebox";
import { Type } from "../support/schema-builder.js";
import {
  AnyObject,
  fieldsOf,
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

/**
 * Request fields of a cron's runs. Fields that only apply to a single run, such as a checkpoint,
 * are excluded.
 */
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
  budget: run.budget,
  multitask_strategy: run.multitask_strategy,
  checkpoint_during: run.checkpoint_during,
};

export const CRON_RUN_FIELDS = Object.keys(runFields) as (keyof typeof runFields)[];

const Schedule = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "Minute, hour, day, month and weekday, such as `0 8 * * 1-5`.",
});

const TimeZone = Type.String({ maxLength: 100 });

const scheduleFields = {
  timezone: Opt(TimeZone, {
    description: "IANA time zone of the schedule, such as `Europe/Berlin`. Default: UTC.",
  }),
  on_run_completed: Opt(StringEnum(["delete", "keep"], { default: "delete" }), {
    description: "What happens to the thread of each run after it, if the cron has no thread.",
  }),
  enabled: Opt(Type.Boolean({ default: true }), {
    description: "If false, the cron is paused.",
  }),
  metadata: Opt(AnyObject(), { description: "Metadata of the cron and its runs." }),
};

const EndTime = Type.String({ format: "date-time" });

export const CronCreateRequest = Type.Object(
  {
    assistant_id: run.assistant_id,
    schedule: Schedule,
    ...scheduleFields,
    end_time: Opt(EndTime, { description: "No runs start after this time." }),
    ...runFields,
  },
  { title: "CronCreateRequest", description: "A run to execute on a schedule." },
);
export type CronCreateRequest = Static<typeof CronCreateRequest>;

export const CronPatchRequest = Type.Object(
  {
    schedule: Opt(Schedule),
    ...scheduleFields,
    timezone: Opt(TimeZone, {
      description: "IANA time zone of the schedule, such as `Europe/Berlin`; null for UTC.",
    }),
    end_time: Opt(EndTime, { description: "No runs start after this time; null for no end." }),
    ...runFields,
  },
  { title: "CronPatchRequest", description: "Changes to a cron; omitted fields stay unchanged." },
);
export type CronPatchRequest = Static<typeof CronPatchRequest>;

export const CronModel = Type.Object(
  {
    cron_id: Uuid("Id of the cron."),
    assistant_id: Type.String({ description: "Assistant of its runs, as given in the request." }),
    thread_id: Nullable(Uuid("Thread of its runs."), {
      description: "Thread of its runs; null if each run has its own thread.",
    }),
    schedule: Type.String({ description: "Minute, hour, day, month and weekday." }),
    timezone: Nullable(Type.String(), { description: "Time zone of the schedule; null for UTC." }),
    enabled: Type.Boolean({ description: "Whether the cron is active." }),
    end_time: Nullable(Timestamp("No runs start after this time."), {
      description: "No runs start after this time; null for no end.",
    }),
    next_run_date: Nullable(Timestamp("Time of the next run."), {
      description: "Time of the next run; null if the cron is disabled or has ended.",
    }),
    on_run_completed: StringEnum(["delete", "keep"], {
      description: "What happens to the thread of each run after it, if the cron has no thread.",
    }),
    payload: AnyObject({ description: "Request fields of its runs." }),
    metadata: AnyObject({ description: "Metadata of the cron and its runs." }),
    user_id: Nullable(Type.String(), {
      description: "The user who created it; null without authentication.",
    }),
    created_at: Timestamp("When it was created."),
    updated_at: Timestamp("When it was last changed."),
    last_error: Nullable(Type.String(), {
      description: "Why its latest run was rejected; null if it was accepted.",
    }),
  },
  { title: "CronModel", description: "A run that is executed on a schedule." },
);
export type Cron = Static<typeof CronModel>;

export const CRON_FIELDS = fieldsOf(CronModel);

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
  enabled: Opt(Type.Boolean(), { description: "Only enabled crons, or only disabled ones." }),
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
    // `now` is a field of LangGraph's rows; it is accepted but never returned.
    select: Opt(Selection([...CRON_FIELDS, "now"])),
  },
  { title: "CronSearchRequest", description: "Filters, order, page and fields of a cron search." },
);
export type CronSearchRequest = Static<typeof CronSearchRequest>;

export const CronCountRequest = Type.Object(cronFilter, {
  title: "CronCountRequest",
  description: "Filters of a cron count.",
});
export type CronCountRequest = Static<typeof CronCountRequest>;
