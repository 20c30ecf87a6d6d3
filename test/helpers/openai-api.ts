/** A server with routes of OpenAI's API: chat completions that repeat the last message, and embeddings that count letters. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { embed } from "../fixtures/embeddings/letters.js";

export interface OpenAiApi {
  /** The base URL for clients. */
  url: string;
  /** The keys that requests sent, in order. */
  keys: (string | undefined)[];
  close(): Promise<void>;
}

interface ChatRequest {
  model: string;
  stream?: boolean;
  messages: { content: string }[];
}

interface EmbeddingRequest {
  input: string | string[];
  encoding_format?: "base64" | "float";
}

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

/** Chunks of a streamed completion; the last one contains the token usage. */
function chunksOf(model: string, words: string[]): object[] {
  const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model };
  const choice = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    choice({ role: "assistant", content: "" }),
    ...words.map((content) => choice({ content })),
    choice({}, "stop"),
    { ...base, choices: [], usage: USAGE },
  ];
}

/** Starts the server on a free port. */
export async function openAiApi(): Promise<OpenAiApi> {
  const keys: OpenAiApi["keys"] = [];
  const server = createServer((req, res) => {
    void (async () => {
      let body = "";
      for await (const part of req) body += String(part);
      if (req.url === "/v1/embeddings") {
        keys.push(req.headers.authorization?.replace("Bearer ", ""));
        const { input, encoding_format } = JSON.parse(body) as EmbeddingRequest;
        const vectors = await embed(Array.isArray(input) ? input : [input]);
        const data = vectors.map((vector, index) => ({
          ...{ object: "embedding", index },
          embedding:
            encoding_format === "base64"
              ? Buffer.from(Float32Array.from(vector).buffer).toString("base64")
              : vector,
        }));
        res.writeHead(200, { "Content-Type": "application/json" });
        return res.end(
          JSON.stringify({ object: "list", data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
        );
      }
      if (req.url !== "/v1/chat/completions") return res.writeHead(404).end();
      keys.push(req.headers.authorization?.replace("Bearer ", ""));
      const { model, stream, messages } = JSON.parse(body) as ChatRequest;
      const content = `You said: ${messages.at(-1)?.content}`;
      if (!stream) {
        const message = { role: "assistant", content };
        const completion = { id: "chatcmpl-1", object: "chat.completion", created: 1, model, usage: USAGE };
        res.writeHead(200, { "Content-Type": "application/json" });
        return res.end(
          JSON.stringify({ ...completion, choices: [{ index: 0, message, finish_reason: "stop" }] }),
        );
      }
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const chunk of chunksOf(model, content.split(/(?<= )/)))
        res.write(`data: ${JSON.stringify(chunk)}\n\n`);
      return res.end("data: [DONE]\n\n");
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    keys,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
