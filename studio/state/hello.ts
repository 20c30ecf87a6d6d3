import { signal } from "@preact/signals";
import type { StudioHello } from "../../src/models/studio.js";

/** Information of `dev` about its graphs; undefined on other servers. */
export const hello = signal<StudioHello | undefined>(undefined);

/** True while the screens wait for it: states that they read before would be read again to show all values. */
export const isHelloAwaited = signal(false);
