import { signal } from "@preact/signals";
import type { StudioHello } from "../../src/models/studio.js";

/** What `dev` tells of its graphs; undefined where nobody does. */
export const hello = signal<StudioHello | undefined>(undefined);
