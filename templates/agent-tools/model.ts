import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { FakeToolModel } from "./fake-model.js";

/**
 * The model that the agent calls. This fake model needs no API key and no network. For a real model, install its
 * package (`npm install @langchain/openai`), put the API key in `.env`, and create the model here:
 *
 *     import { ChatOpenAI } from "@langchain/openai";
 *     export const model: BaseChatModel = new ChatOpenAI({ model: "gpt-5-mini" });
 *
 * The tools do not change: a real model reads their names, descriptions and schemas.
 */
export const model: BaseChatModel = new FakeToolModel();
