/** Prints the results of `doctor` and `validate`. */
import { maskPasswords } from "../../support/secrets.js";
import { escapeControl, wrapped } from "../../view/text.js";
import { errorDocument } from "../session/report-error.js";
import type { Session } from "../session/session.js";
import type { Check } from "./check.js";

const NARROWEST = 40;

/** One line per check, with its fix below; with `--json` a list, with the errors of failed checks. */
export function reportChecks({ io, print }: Session, checks: readonly Check[]): void {
  const shown = checks.map(({ cause, ...check }) => ({
    ...check,
    detail: maskPasswords(check.detail),
    ...(check.fix !== undefined && { fix: print.asCalled(maskPasswords(check.fix)) }),
    ...(print.flags.json && cause !== undefined && errorDocument(cause, io)),
  }));
  if (print.flags.json) {
    print.json({ items: shown, next: null });
    return;
  }
  const { green, yellow, red, dim } = print.colors;
  const paint = { ok: green, warn: yellow, fail: red };
  const names = Math.max(...shown.map(({ check }) => check.length));
  // On a narrow terminal the detail goes below the name.
  const isNarrow = print.width < names + NARROWEST;
  const indent = " ".repeat(isNarrow ? 6 : names + 8);
  for (const { check, status, detail, fix } of shown) {
    const lines = wrapped(escapeControl(detail), print.width - indent.length);
    const fixes =
      fix === undefined || status === "ok"
        ? []
        : wrapped(escapeControl(fix), print.width - indent.length - 4);
    const head = `${paint[status](status.padEnd(4))}  ${escapeControl(check)}`;
    const gap = " ".repeat(Math.max(0, names - escapeControl(check).length) + 2);
    print.data(isNarrow ? head : `${head}${gap}${lines.shift() ?? ""}`.trimEnd());
    for (const line of lines) print.data(indent + line);
    for (const [index, line] of fixes.entries())
      print.data(`${indent}${index === 0 ? dim("fix ") : "    "}${line}`);
  }
}
