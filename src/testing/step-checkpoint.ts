/** Which checkpoint a step goes back to. */
import { InvalidRequestError } from "../errors.js";
import type { ThreadState } from "../models/state.js";
import type { CheckpointChoice } from "./case-model.js";
import type { CaseTarget } from "./target.js";

/**
 * The id of the newest checkpoint that the choice fits.
 * @throws InvalidRequestError when there is none (`invalid_request`)
 */
export async function checkpointOfStep(
  choice: CheckpointChoice,
  target: CaseTarget,
  threadId: string,
): Promise<string> {
  const history = await target.history(threadId);
  const fits = ({ next, metadata }: ThreadState) =>
    typeof choice === "number" ? metadata.step === choice : next.includes(choice.before);
  const id = history.find(fits)?.checkpoint?.checkpoint_id;
  if (id != null) return id;
  const wanted = typeof choice === "number" ? `of step ${choice}` : `before ${choice.before}`;
  const there = history.map(
    ({ next, metadata }) => `${String(metadata.step)} (next ${next.join(", ") || "none"})`,
  );
  throw new InvalidRequestError(
    `the thread has no checkpoint ${wanted}; it has ${there.join("; ") || "none at all"}`,
  );
}
