/** CPU profiles of this process, for the processes that are measured. */
import { Session } from "node:inspector/promises";
import { readProfile, type ProfileEntry } from "./read-profile.js";

const session = new Session();

export const profiling = {
  async startProfile(): Promise<void> {
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
  },

  async stopProfile(): Promise<ProfileEntry[]> {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return readProfile(profile);
  },
};
