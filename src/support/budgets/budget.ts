/** Budgets as text: `0.50 USD` or `200k tokens`. */

export interface Budget {
  unit: "USD" | "tokens";
  /** Billionths of a US dollar, or tokens. */
  amount: number;
}

/** The setting `budgets`, as parsed. */
export interface Budgets {
  run?: Budget;
  thread?: Budget;
  /** Of a user on a UTC day. */
  userDay?: Budget;
}

export const BUDGET_PATTERN = "^\\d+(\\.\\d+)? USD$|^\\d+(\\.\\d+)?[kM]? tokens$";

const FACTORS: Readonly<Record<string, number>> = { k: 1e3, M: 1e6 };
const UNITS_PER_USD = 1e9;

/** Undefined for any other value. */
export function parseBudget(text: unknown): Budget | undefined {
  if (typeof text !== "string") return undefined;
  const [, number, factor = "", unit] = /^(\d+(?:\.\d+)?)([kM]?) (USD|tokens)$/.exec(text) ?? [];
  if (unit === "tokens") return { unit, amount: Math.round(Number(number) * (FACTORS[factor] ?? 1)) };
  return unit === "USD" && factor === ""
    ? { unit, amount: Math.round(Number(number) * UNITS_PER_USD) }
    : undefined;
}

interface BudgetSettings {
  run?: string;
  thread?: string;
  user?: { day: string };
}

export function budgetsOf({ run, thread, user }: BudgetSettings = {}): Budgets {
  return { run: parseBudget(run), thread: parseBudget(thread), userDay: parseBudget(user?.day) };
}

export const budgetText = ({ unit, amount }: Budget): string =>
  unit === "tokens" ? `${amount} tokens` : `${decimal(amount / UNITS_PER_USD)} USD`;

/** Without an exponent, which small amounts would have. */
const decimal = (usd: number): string => (usd >= 1e-6 ? String(usd) : usd.toFixed(9));

/** Why a budget of a run can never be reached, and how to fix it; undefined if the budgets fit together. */
export function contradiction(settings: BudgetSettings): { message: string; hint: string } | undefined {
  const { run, thread, userDay } = budgetsOf(settings);
  const larger = ([name, other]: readonly [string, Budget | undefined]) =>
    run && other && run.unit === other.unit && run.amount > other.amount
      ? {
          message: `budgets.run (${budgetText(run)}) is larger than budgets.${name} (${budgetText(other)}), so it is never reached`,
          hint: `lower budgets.run, or raise budgets.${name}`,
        }
      : undefined;
  return larger(["thread", thread]) ?? larger(["user.day", userDay]);
}
