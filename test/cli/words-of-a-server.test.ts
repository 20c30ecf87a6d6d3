/** Names sent by a server are escaped on a terminal, and missing fields do not break the output. */
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { LiveView } from "../../src/cli/run/live-view.js";
import { nextCommand } from "../../src/cli/run/outcome.js";
import { Printer } from "../../src/cli/terminal/print.js";
import { messageLine } from "../../src/view/text.js";
import { Capture } from "./harness.js";

const TITLE = "\u001b]0;owned\u0007";
const SHOWN = "\\u001b]0;owned\\u0007";

it("event names are escaped", () => {
  const [stdout, stderr] = [new Capture(), new Capture()];
  const io = { stdout, stderr, stdin: Readable.from([]), env: {}, cwd: "." };
  new LiveView(new Printer(io, {})).show({ event: `custom${TITLE}`, data: 1 });
  expect(stdout.text + stderr.text).toContain(`custom${SHOWN}`);
  expect(stdout.text + stderr.text).not.toContain(TITLE);
});

it("the next command is escaped", () => {
  const interrupts = [TITLE, "b"].map((id) => ({ id, value: null }));
  const command = nextCommand({ thread_id: TITLE, interrupts }, TITLE, {});
  expect(command).toContain(`--thread ${SHOWN}`);
  expect(command).not.toContain("\u001b");
});

it("an invalid tool call is skipped", () => {
  const message = { type: "ai", content: "hi", tool_calls: [null, { name: "add" }] };
  expect(messageLine(message)).toBe("ai: hi  calls add");
});
