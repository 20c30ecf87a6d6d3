import { newId } from "../../../src/support/ids.js";
import { gateOf } from "../../fixtures/gates.js";
import { say } from "./data.js";
import { field, type Recorder } from "./recorder.js";

/** Runs that wait for each other, one of which is cancelled while queued. */
export async function queue(recorder: Recorder, thread: string): Promise<void> {
  const { ask, quietly } = recorder;
  const name = newId();
  const pending = { Prefer: "respond-async" };
  const gated = { assistant_id: "gate", input: { gate: name } };
  const first = quietly(`POST ${thread}/runs`, gated);
  await gateOf(name).entered;
  for (const multitask_strategy of ["reject", "rollback", "interrupt"]) {
    await ask(`POST ${thread}/runs`, { ...say("now"), multitask_strategy });
  }
  await ask(`POST ${thread}/state`, { values: {} });
  const busy = await quietly(`GET ${thread}`);
  const next = await quietly(`POST ${thread}/runs`, say("next"), pending);
  const given = await quietly(`POST ${thread}/runs`, say("given up"), pending);
  await ask(`POST ${thread}/runs/${String(field(given, "run_id"))}/cancel?wait=true`);
  gateOf(name).open();
  const ended = [
    busy,
    await first,
    await quietly(`GET ${thread}/runs/${String(field(next, "run_id"))}/join`),
  ];
  const statuses = ended.map((answer) => `${answer.status} ${String(field(answer, "status"))}`);
  recorder.note("busy, first, next", statuses);
  const runs = (await quietly(`GET ${thread}/runs`)).body as { status: string }[];
  recorder.note(
    "runs",
    runs.map(({ status }) => status),
  );
  recorder.note("thread", field(await quietly(`GET ${thread}`), "status"));
}
