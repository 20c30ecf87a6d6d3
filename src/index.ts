/** Public surface for embedding. */
export { defineConfig } from "./config/define.js";
export type { Settings, SettingsInput } from "./config/settings.js";
export type { AccessContext, FactoryRuntime } from "./graphs/graph.js";
export type { Migration } from "./graphs/versions/migration.js";
export * from "./support/errors.js";
export * from "./support/errors/codes.js";
export * from "./support/errors/thrown.js";
export { createApp } from "./http/app.js";
export { startServer } from "./http/server.js";
export type { Logger } from "./support/log.js";
export { noteUnhandled } from "./support/event-loop.js";
export type { Authenticate, AuthRequest, Identity } from "./models/caller.js";
export type { Assistant, GraphDrawing, GraphSchema } from "./models/assistant.js";
export type { Run, RunCreateRequest, StreamMode, TokenUsage } from "./models/run.js";
export type { RunStatus } from "./models/run-status.js";
export type { RunActivity } from "./models/run-activity.js";
export type { RunFrame, RunStream } from "./models/run-stream.js";
export type { CheckpointConfig, Interrupt, ThreadState } from "./models/state.js";
export type { Thread, ThreadCreateRequest, ThreadSearchRequest } from "./models/thread.js";
export type { ThreadStatus } from "./models/thread-fields.js";
export { openService } from "./service/open.js";
export type { GraphSummary } from "./service/info.js";
export type { Service } from "./service/service.js";
export type { ServiceOptions } from "./service/options.js";
// For those who write a storage of their own; see OpenCustomStorage.
export { wrapCheckpointer, type CheckpointKey, type WrapOptions } from "./storage/saver/wrap.js";
export { contains } from "./storage/rows/rows.js";
export type { CustomStorageOptions, OpenCustomStorage } from "./storage/custom.js";
export type { ExplainError, Explanation } from "./storage/driver/errors.js";
export type { ItemPage, ItemRow, ItemTable, ItemWrite, StoredItem } from "./storage/contract/items.js";
export { openStorage, type OpenOptions } from "./storage/open.js";
export { expiryOf, inScope, patchRun, patchThread } from "./storage/rows/rows.js";
export { isFinished } from "./models/run-status.js";
export type { AcquireOptions, ThreadLease, ThreadLocks } from "./storage/contract/locks.js";
export type { Owner, OwnerTable } from "./storage/contract/owners.js";
export type {
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  RunState,
  RunTable,
  UnfinishedRun,
} from "./storage/contract/runs.js";
export type { Storage, StorageOptions } from "./storage/contract/storage.js";
export type { Checkpointer } from "./storage/contract/checkpointer.js";
export type {
  ThreadFilter,
  ThreadPage,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  ThreadTable,
} from "./storage/contract/threads.js";
export type { TimerKind, TimerQuery, TimerRow, TimerTable } from "./storage/contract/timers.js";
export { createThreadLocks } from "./storage/locks/thread-locks.js";
export { VERSION } from "./support/own-package.js";
export type { RunFault } from "./support/run-fault.js";
export type { StackFrame } from "./support/stack.js";
