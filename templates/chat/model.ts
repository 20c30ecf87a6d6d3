import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { FakeModel } from "./fake-model.js";

/**
 * The model that the graph talks to. This one needs no key and no network. For a real one, install its package
 * (`npm install @langchain/openai`), put the key into `.env`, and make it here:
 *
 *     import { ChatOpenAI } from "@langchain/openai";
 *     export const model: BaseChatModel = new ChatOpenAI({ model: "gpt-5-mini" });
 *
 * Nothing else changes: every chat model of LangChain streams its words and reports its tokens in the same way.
 */
export const model: BaseChatModel = new FakeModel();
