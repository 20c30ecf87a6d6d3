import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { FakeToolModel } from "./fake-model.js";

/**
 * The model that the agent talks to. This one needs no key and no network. For a real one, install its package
 * (`npm install @langchain/openai`), put the key into `.env`, and make it here:
 *
 *     import { ChatOpenAI } from "@langchain/openai";
 *     export const model: BaseChatModel = new ChatOpenAI({ model: "gpt-5-mini" });
 *
 * The tools stay as they are: a real model reads their names, descriptions and schemas.
 */
export const model: BaseChatModel = new FakeToolModel();
