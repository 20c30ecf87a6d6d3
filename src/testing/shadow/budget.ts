/** What all repetitions together may spend on models. */
import { isRecord } from "../../models/common.js";
import type { Run } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import { UNITS_PER_USD } from "../../models/token-counts.js";
import { type Budget, budgetText } from "../../support/budgets/budget.js";

/** Thrown if a unit cannot be executed to its end. The message says why. */
export class OverBudget extends Error {}

export class ShadowBudget {
  readonly #limit: Budget;
  #spent = 0;
  /** Why nothing more is spent. */
  #reason: string | undefined;

  constructor(limit: Budget) {
    this.#limit = limit;
  }

  /** The budget of the next run: it stops before the model call that it can no longer pay. @throws OverBudget */
  get left(): string {
    if (this.#reason !== undefined) throw new OverBudget(this.#reason);
    const { unit, amount } = this.#limit;
    return budgetText({ unit, amount: amount - this.#spent });
  }

  /**
   * Counts a run that has ended.
   * @throws OverBudget if it was stopped, or if its cost is not known
   */
  add({ usage }: Run, { interrupts }: ThreadState): void {
    const { unit, amount } = this.#limit;
    // Other counts cover the whole thread.
    const { total_tokens = 0, cost_usd } = usage?.source === "callbacks" ? usage : {};
    if (unit === "USD" && total_tokens > 0 && cost_usd === undefined)
      this.#reason =
        "the price of a model is not known: add it to the setting prices, or give --budget in tokens";
    this.#spent += unit === "USD" ? Math.round((cost_usd ?? 0) * UNITS_PER_USD) : total_tokens;
    if (this.#spent >= amount) this.#reason = `the budget is used up: ${this.text}`;
    const isStopped = interrupts.some(({ value }) => isRecord(value) && value.type === "budget_exceeded");
    if (this.#reason !== undefined && (isStopped || this.#spent < amount)) throw new OverBudget(this.#reason);
  }

  /** `0.4 USD of 0.5 USD`. */
  get text(): string {
    return `${budgetText({ ...this.#limit, amount: this.#spent })} of ${budgetText(this.#limit)}`;
  }
}
