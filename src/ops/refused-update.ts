import { errorMessage, GraphServeError, InvalidRequestError, type Issue } from "../errors.js";

/** A graph's refusal of a state write is the client's to mend; what the service threw itself stays as it is. */
export function refusedUpdate(error: unknown, loc: Issue["loc"]): GraphServeError {
  if (error instanceof GraphServeError) return error;
  return InvalidRequestError.at(loc, errorMessage(error), "update_refused", error);
}
