/** Shows on stderr how far a copy is: a bar on a terminal, lines elsewhere. */
import type { CopyProgress } from "../../migration.js";
import type { Printer } from "../print.js";
import { LEFT_TEXTS } from "./report.js";

const WIDTH = 30;
/** Least time between two drawings of the bar, and between two lines, in milliseconds. */
const DRAW_MS = 50;
const LINE_MS = 5_000;

export class ProgressView {
  readonly #print: Printer;
  readonly #isBar: boolean;
  #shownAt = 0;
  #isDrawn = false;

  constructor(print: Printer) {
    this.#print = print;
    this.#isBar = print.isWatched && !print.flags.quiet;
    this.#shownAt = this.#isBar ? 0 : Date.now();
  }

  show(progress: CopyProgress): void {
    this.#detail(progress);
    const isDue = Date.now() - this.#shownAt >= (this.#isBar ? DRAW_MS : LINE_MS);
    if (!isDue && !(this.#isBar && progress.ended && progress.done === progress.threads)) return;
    this.#shownAt = Date.now();
    const { done, threads, checkpoints } = progress;
    const count = `${done} of ${threads} threads, ${checkpoints} checkpoints`;
    if (this.#isBar) this.#draw(`${bar(done, threads)} ${count}`);
    else this.#print.note(count);
  }

  /** Take the bar away. */
  end(): void {
    if (this.#isDrawn) this.#print.notePart("\r\u001b[K");
    this.#isDrawn = false;
  }

  /** With `--verbose` a line a thread. */
  #detail({ ended }: CopyProgress): void {
    if (!ended || !this.#print.flags.verbose) return;
    const { thread_id, copy } = ended;
    this.end();
    if (copy.outcome === "left") this.#print.note(`${thread_id}  left: ${LEFT_TEXTS[copy.reason]}`);
    else
      this.#print.note(
        `${thread_id}  ${copy.outcome}, ${copy.checkpoints} checkpoints, ${copy.runs} runs new`,
      );
  }

  #draw(text: string): void {
    this.#print.notePart(`\r\u001b[K${text}`);
    this.#isDrawn = true;
  }
}

function bar(done: number, all: number): string {
  const filled = all === 0 ? WIDTH : Math.min(WIDTH, Math.floor((done / all) * WIDTH));
  return `${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}`;
}
