/**
 * Run activity as `dev` and `runs tail` print it: one line per node and tool call, and one for the outcome. Nested nodes are shown with
 * their full path, because lines of concurrent nodes can interleave.
 */
import type { Run } from "../../models/run.js";
import type { NodeActivity, RunActivity, ToolActivity } from "../../models/run-activity.js";
import { reportedTokens } from "../../models/token-counts.js";
import { failedCommands, nextCommand } from "./outcome.js";
import type { GlobalFlags, PlaceFlags } from "../session/options.js";
import type { Colors } from "../terminal/print.js";
import { clipped, counted, indentedPath, shownMs } from "../terminal/text.js";

type Begin = Extract<RunActivity, { kind: "begin" }>;
type End = Extract<RunActivity, { kind: "end" }>;

/** Maximum columns for tool arguments and results, and for interrupt values. */
const TOOL_COLUMNS = 60;
const QUESTION_COLUMNS = 200;
const ERROR_COLUMNS = 500;

/** Lengths of shortened ids: the time part only, and with the part that differs between simultaneous runs. */
const SHORT_IDS = [13, 18];

/** Concurrent runs are distinguished by color and by the start of their id. */
const RUN_COLORS = ["cyan", "magenta", "yellow", "blue", "green"] as const;

interface Shown {
  label: string;
  /** The label as the colored start of a line. */
  mark: string;
  stateless: boolean;
}

export interface LineOutput {
  write(line: string): void;
  colors: Colors;
  /** Whether to shorten ids, for a terminal. */
  isShort: boolean;
  /** Whether to print the error of a failed run, which `dev` logs itself. */
  showsErrors?: boolean;
}

export class RunLines {
  /** URL of the server, set after it listens; undefined for a storage. */
  url: string | undefined;
  /** Reads the latest step of a thread; set after the storage is open. */
  stepOf: (threadId: string) => Promise<number | undefined> = () => Promise.resolve(undefined);
  readonly #place: GlobalFlags & PlaceFlags;
  readonly #output: LineOutput;
  readonly #colors: Colors;
  /** Active runs by id. */
  readonly #shown = new Map<string, Shown>();
  #begun = 0;

  /** @param place flags that select the storage, for the suggested commands */
  constructor(output: LineOutput, place: GlobalFlags & PlaceFlags) {
    this.#output = output;
    this.#place = place;
    this.#colors = output.colors;
  }

  show(activity: RunActivity): void {
    switch (activity.kind) {
      case "begin":
        return this.#begin(activity);
      case "node":
        return this.#node(activity);
      case "tool":
        return this.#tool(activity);
      case "end":
        return this.#end(activity);
    }
  }

  /** Prints that a run was deleted before its end was read. */
  showDeleted({ run_id }: Run): void {
    this.#line(run_id, this.#colors.dim("deleted, with its result, as stateless runs are when they end"));
    this.#shown.delete(run_id);
  }

  #begin({ run, stateless }: Begin): void {
    const label = this.#labelOf(run.run_id);
    const color = RUN_COLORS[this.#begun % RUN_COLORS.length] ?? "cyan";
    this.#begun += 1;
    this.#shown.set(run.run_id, { label, mark: this.#colors[color](label), stateless });
    const where = stateless ? "stateless" : `thread ${this.#shortId(run.thread_id)}`;
    this.#line(run.run_id, `${this.#colors.bold(String(run.metadata.graph_id))}  ${this.#colors.dim(where)}`);
  }

  #node({ run, path, ms, state, tokens }: NodeActivity): void {
    const parts = [indentedPath(path), shownMs(Math.round(ms))];
    if (tokens > 0) parts.push(counted(tokens, "token"));
    if (state === "failed") parts.push(this.#colors.red("failed"));
    if (state === "waits") parts.push(this.#colors.yellow("interrupted"));
    this.#line(run.run_id, parts.join("  "));
  }

  #tool({ run, path, name, input, output, ms, state }: ToolActivity): void {
    const call = `${name}(${clipped(input, TOOL_COLUMNS)})`;
    const result = clipped(output, TOOL_COLUMNS);
    const answer = state === "failed" ? this.#colors.red(result) : this.#colors.dim(`-> ${result}`);
    const parts = [indentedPath([...path, call]), shownMs(Math.round(ms)), answer];
    this.#line(run.run_id, parts.join("  "));
  }

  #end({ run, ms, interrupts }: End): void {
    const { run_id, thread_id, status, usage, error } = run;
    const { dim, yellow, green, red, bold } = this.#colors;
    for (const { value } of interrupts) {
      const question = clipped(JSON.stringify(value) ?? "nothing", QUESTION_COLUMNS);
      this.#line(run_id, `  ${yellow("waiting for an answer:")} ${question}`);
    }
    if (interrupts.length > 0 && !this.#shown.get(run_id)?.stateless) {
      const command = nextCommand(
        { thread_id, interrupts: [...interrupts] },
        undefined,
        this.url === undefined ? this.#place : { url: this.url },
      );
      this.#line(run_id, `  ${dim("answer")}  ${bold(command)}`);
    }
    if (this.#output.showsErrors && error !== null)
      this.#line(run_id, `  ${red(clipped(error, ERROR_COLUMNS))}`);
    const paint = status === "success" ? green : status === "interrupted" ? yellow : red;
    const took = `in ${shownMs(Math.round(ms))}, ${counted(reportedTokens(usage).total_tokens, "token")}`;
    this.#line(run_id, `${paint(status)} ${took}`);
    const shown = this.#shown.get(run_id);
    this.#shown.delete(run_id);
    if ((status === "error" || status === "timeout") && !shown?.stateless)
      void this.#showNext(shown?.mark ?? run_id, thread_id);
  }

  /** Prints the commands that find the cause of an error. */
  async #showNext(mark: string, threadId: string): Promise<void> {
    // The thread may be gone, or the server may be closing.
    const step = await this.stepOf(threadId).catch(() => undefined);
    for (const [index, command] of failedCommands(threadId, step, this.#place).entries())
      this.#output.write(`  ${mark}    ${index === 0 ? this.#colors.dim("next") : "    "}  ${command}`);
  }

  #line(runId: string, text: string): void {
    this.#output.write(`  ${this.#shown.get(runId)?.mark ?? runId}  ${text}`);
  }

  #shortId(id: string, length = SHORT_IDS[0]): string {
    return this.#output.isShort ? id.slice(0, length) : id;
  }

  #labelOf(runId: string): string {
    const taken = new Set([...this.#shown.values()].map(({ label }) => label));
    const label = SHORT_IDS.map((length) => this.#shortId(runId, length)).find((short) => !taken.has(short));
    return label ?? runId;
  }
}
