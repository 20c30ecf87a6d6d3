import { InvalidRequestError } from "../../errors.js";
import { valuesFlag } from "../fork/branch.js";
import type { Session } from "../session.js";
import { findState, findThreadId } from "../source/find.js";
import type { SourceFlags } from "../source/source.js";
import { withSource } from "../source/with-source.js";

export interface StateSetFlags extends SourceFlags {
  values?: string;
  asNode?: string;
  at?: string;
}

/** `state set`: write values into a thread's state, through the reducers of its graph. */
export async function setState(session: Session, thread: string, flags: StateSetFlags): Promise<number> {
  const values = valuesFlag(flags.values);
  if (values === undefined) {
    throw new InvalidRequestError("there is nothing to write", undefined, {
      hint: `give --values '{"count": 3}'`,
    });
  }
  const written = await withSource(
    session,
    flags,
    { access: "write", graphs: "required" },
    async (source) => {
      const threadId = await findThreadId(source, thread);
      const at = flags.at === undefined ? undefined : await findState(source, threadId, { at: flags.at });
      return source.state.update(threadId, {
        values,
        ...(flags.asNode !== undefined && { as_node: flags.asNode }),
        ...(at?.checkpoint && { checkpoint: at.checkpoint }),
      });
    },
  );
  if (session.print.isJson) session.print.json(written);
  else session.print.data(written.checkpoint.checkpoint_id ?? "");
  return 0;
}
