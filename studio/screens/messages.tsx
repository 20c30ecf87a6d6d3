/** The messages of a state, with the tokens and the cost of the calls that returned them. */
import { useSignalEffect } from "@preact/signals";
import { useState } from "preact/hooks";
import { isMessageLike, isRecord } from "../../src/models/json.js";
import type { ThreadState } from "../../src/models/state.js";
import { shared } from "../api.js";
import { Message, type MessageLike } from "../components/message.js";
import { costNote, costText } from "../components/costs.js";
import { messageCost } from "../components/prices.js";
import { visible } from "../components/text.js";
import { prices } from "../state/prices.js";
import { readTimes, threadTasks } from "../state/times.js";
import { strings } from "../strings.js";

/** State keys that hold a list of messages. */
function messageLists(values: unknown): [key: string, messages: MessageLike[]][] {
  if (!isRecord(values)) return [];
  return Object.entries(values).filter(
    (entry): entry is [string, MessageLike[]] =>
      Array.isArray(entry[1]) && entry[1].length > 0 && entry[1].every(isMessageLike),
  );
}

export function Messages({ values }: { values: ThreadState["values"] }) {
  useSignalEffect(() => void (shared || readTimes()));
  const lists = messageLists(values);
  if (lists.length === 0) return <p class="dim">{strings.messages.none}</p>;
  return (
    <>
      {lists.map(([key, messages]) => (
        <Chat key={key} name={lists.length > 1 ? key : undefined} messages={messages} />
      ))}
    </>
  );
}

/** Initially, only the last messages are rendered. */
const MOST_MESSAGES = 100;

/** Undefined until the calls are read, and without tokens. */
function costOfMessage(message: MessageLike): string | undefined {
  const tasks = threadTasks.value.value;
  const cost = tasks && messageCost(message, tasks, prices.value);
  return cost && costNote(costText(cost));
}

function Chat({ name, messages }: { name: string | undefined; messages: MessageLike[] }) {
  const [most, setMost] = useState(MOST_MESSAGES);
  const first = Math.max(0, messages.length - most);
  return (
    <div class="chat">
      {name !== undefined && (
        <h3>
          <code>{visible(name)}</code>
        </h3>
      )}
      {first > 0 && (
        <button type="button" class="link" onClick={() => setMost(most + MOST_MESSAGES)}>
          {strings.messages.earlier(first)}
        </button>
      )}
      {messages.slice(first).map((message, index) => (
        <Message
          key={typeof message.id === "string" ? message.id : first + index}
          message={message}
          cost={costOfMessage(message)}
        />
      ))}
    </div>
  );
}
