/** Page object for ./page/main.tsx. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Tab } from "../helpers/chromium.js";

/** The page as a user sees it. */
export class ChatPage {
  readonly page: Page;
  readonly #tab: Tab;
  #address: string;

  constructor(tab: Tab, address: string) {
    this.page = tab.page;
    this.#tab = tab;
    this.#address = address;
  }

  /** Loads or reloads the page. */
  async load(): Promise<this> {
    await this.page.goto(this.#address);
    await this.page.locator("main").waitFor();
    this.#address = this.page.url();
    return this;
  }

  get thread(): string {
    this.#address = this.page.url();
    return new URL(this.#address).searchParams.get("thread") ?? "";
  }

  get questions(): Locator {
    return this.page.locator("#questions li");
  }

  async say(text: string): Promise<void> {
    await this.page.getByLabel("Message", { exact: true }).fill(text);
    await this.press("Send");
  }

  async send(input: object): Promise<void> {
    await this.page.getByLabel("Message", { exact: true }).fill(JSON.stringify(input));
    await this.press("Send JSON");
  }

  async answer(question: string, answer: string): Promise<void> {
    const asked = this.questions.filter({ hasText: question });
    await asked.getByLabel("Answer").fill(answer);
    await asked.getByRole("button").click();
  }

  press(name: string): Promise<void> {
    return this.page.getByRole("button", { name, exact: true }).click();
  }

  message(text: string): Locator {
    return this.page.locator("#messages li").filter({ has: this.page.getByText(text, { exact: true }) });
  }

  status = (): Promise<string | null> => this.page.locator("output").textContent();
  texts = (): Promise<string[]> => this.page.locator("#messages li p").allTextContents();
  items = (list: string): Promise<string[]> =>
    this.page.locator(list.includes(" ") ? list : `${list} li`).allTextContents();
  values = async (): Promise<unknown> => JSON.parse((await this.page.locator("pre").textContent()) ?? "null");

  answers = async (): Promise<string[]> => ((await this.values()) as { answers?: string[] }).answers ?? [];

  ready = (): Promise<void> => expect.poll(this.status).toBe("ready");

  async shows(texts: string[]): Promise<void> {
    await expect.poll(this.texts).toEqual(texts);
    await this.ready();
  }

  /** No console messages, uncaught errors or rejected requests. */
  expectSound(): void {
    expect(this.#tab.faults).toEqual([]);
  }
}
