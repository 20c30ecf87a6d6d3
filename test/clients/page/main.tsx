/**
 * A typical chat built with `@langchain/react`: messages, tools, subgraphs, interrupts, stop, edit and regenerate. The
 * query parameters select the server, assistant and transport, and store the thread.
 */
import { useMessageMetadata, useMessages, useStream } from "@langchain/react";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

const address = new URL(location.href);
const given = (name: string) => address.searchParams.get(name) ?? "";

function keepThread(threadId: string): void {
  address.searchParams.set("thread", threadId);
  history.replaceState(null, "", address);
}

const human = (content: string) => ({ messages: [{ type: "human" as const, content }] });

/** Parses the text as JSON, or returns it unchanged. */
function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const useChat = () =>
  useStream({
    apiUrl: given("api"),
    assistantId: given("assistant"),
    transport: given("transport") === "websocket" ? "websocket" : "sse",
    threadId: given("thread") || undefined,
    onThreadId: keepThread,
  });
type Chat = ReturnType<typeof useChat>;
type Message = Chat["messages"][number];

/** The checkpoint before the first one with the message: this client's metadata lacks it for human messages. */
async function checkpointBefore(chat: Chat, id: string | undefined): Promise<string | undefined> {
  const states = await chat.client.threads.getHistory(chat.threadId ?? "", { limit: 100 });
  const has = (values: unknown) => JSON.stringify(values).includes(JSON.stringify(id));
  return states.findLast(({ values }) => has(values))?.parent_checkpoint?.checkpoint_id ?? undefined;
}

function Bubble({ chat, message }: { chat: Chat; message: Message }) {
  const { parentCheckpointId } = useMessageMetadata(chat, message.id) ?? {};
  const [text, setText] = useState("");
  const askInstead = async () =>
    chat.submit(human(text), { forkFrom: await checkpointBefore(chat, message.id) });
  return (
    <li data-type={message.type}>
      <p>{message.text}</p>
      {message.type === "ai" && parentCheckpointId !== undefined && (
        <button onClick={() => void chat.submit(null, { forkFrom: parentCheckpointId })}>Regenerate</button>
      )}
      {message.type === "human" && (
        <>
          <input
            aria-label="Another question"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <button onClick={() => void askInstead()}>Ask that instead</button>
        </>
      )}
    </li>
  );
}

function Question({ chat, interrupt }: { chat: Chat; interrupt: Chat["interrupts"][number] }) {
  const [answer, setAnswer] = useState("");
  const send = () => void chat.respond(read(answer), { interruptId: interrupt.id });
  return (
    <li>
      <code>{JSON.stringify(interrupt.value)}</code>
      <input aria-label="Answer" value={answer} onChange={(event) => setAnswer(event.target.value)} />
      <button onClick={send}>Send the answer</button>
    </li>
  );
}

function Inside({ chat, graph }: { chat: Chat; graph: { namespace: readonly string[]; nodeName: string } }) {
  const messages = useMessages(chat, graph);
  return <li>{`${graph.nodeName}: ${messages.map(({ text }) => text).join(" / ")}`}</li>;
}

function Page() {
  const chat = useChat();
  const [text, setText] = useState("");
  const answerAll = () =>
    void chat.respondAll(
      Object.fromEntries(chat.interrupts.map(({ id, value }) => [String(id), { to: value }])),
    );
  return (
    <main>
      <output>{chat.isLoading ? "running" : chat.isThreadLoading ? "loading" : "ready"}</output>
      <p role="alert">{chat.error instanceof Error ? chat.error.message : JSON.stringify(chat.error)}</p>
      <ol id="messages">
        {chat.messages.map((message, index) => (
          <Bubble key={message.id ?? index} chat={chat} message={message} />
        ))}
      </ol>
      <ul id="calls">
        {chat.toolCalls.map(({ id, name, args, output }) => (
          <li key={id}>{`${name}(${JSON.stringify(args)}) = ${JSON.stringify(output)}`}</li>
        ))}
      </ul>
      <ul id="inside">
        {[...chat.subgraphs.values()].map((graph) => (
          <Inside key={graph.id} chat={chat} graph={graph} />
        ))}
      </ul>
      <ul id="questions">
        {chat.interrupts.map((interrupt) => (
          <Question key={interrupt.id} chat={chat} interrupt={interrupt} />
        ))}
      </ul>
      {chat.interrupts.length > 1 && <button onClick={answerAll}>Answer all</button>}
      <pre>{JSON.stringify({ ...chat.values, messages: undefined })}</pre>
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button onClick={() => void chat.submit(read(text) as never)}>Send JSON</button>
      <button onClick={() => void chat.submit(human(text))}>Send</button>
      <button onClick={() => void chat.stop()}>Stop</button>
    </main>
  );
}

createRoot(document.getElementById("page")!).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
