import { maxChannelVersion, TASKS, type Checkpoint } from "@langchain/langgraph-checkpoint";

/** Before version 4 of the format, tasks to send were not a channel: they are writes of the checkpoint before. */
export function addSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = sends;
  checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : 1;
}
