/** Opens a saved page at its thread. */
import { href } from "./address.js";
import { sharedThread } from "./shared.js";

const thread = sharedThread();
if (thread && !location.hash.startsWith("#/")) history.replaceState(null, "", href(["threads", thread.id]));
