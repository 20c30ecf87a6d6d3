import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { FakeModel } from "./fake-model.js";

/**
 * The model that the graph calls. This fake model needs no API key and no network. For a real model, install its
 * package (`npm install @langchain/openai`), put the API key in `.env`, and create the model here:
 *
 *     import { ChatOpenAI } from "@langchain/openai";
 *     export const model: BaseChatModel = new ChatOpenAI({ model: "gpt-5-mini" });
 *
 * Nothing else changes: every LangChain chat model streams its output and reports token usage in the same way.
 */
export const model: BaseChatModel = new FakeModel();
