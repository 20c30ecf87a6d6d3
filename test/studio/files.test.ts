/** Images, audio and documents in messages: attaching, sending, displaying and copying as commands. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blockOf, bytesOf, fileOf } from "../../studio/state/files.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const HOSTILE = "<img src=x onerror=alert(1)>\u202e$(touch pwned).pdf";

describe("fileOf", () => {
  it.each([
    ["version 1", { type: "image", mimeType: "image/png", data: PNG }],
    ["before", { type: "image", source_type: "base64", mime_type: "image/png", data: PNG }],
    ["Python", { type: "image", base64: PNG, mime_type: "image/png" }],
    ["OpenAI", { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
    ["Anthropic", { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }],
  ])("reads an image block in the format of %s", (_form, block) => {
    expect(fileOf(block)).toEqual({ kind: "image", mime: "image/png", data: PNG, name: undefined });
  });

  it("reads audio and documents, and blockOf writes a format that fileOf reads", () => {
    const document = { file_data: `data:application/pdf;base64,${PNG}`, filename: "a.pdf" };
    expect(fileOf({ type: "file", file: document })).toMatchObject({ kind: "file", name: "a.pdf" });
    expect(fileOf({ type: "input_audio", input_audio: { data: PNG, format: "mp3" } })).toMatchObject({
      kind: "audio",
      mime: "audio/mp3",
    });
    const held = { kind: "audio" as const, mime: "audio/wav", data: PNG, name: "a.wav" };
    expect(fileOf(blockOf(held))).toEqual(held);
    expect(bytesOf(held)).toBe(Buffer.from(PNG, "base64").length);
  });

  it.each([
    [{ type: "image", url: "https://example.com/a.png" }],
    [{ type: "image", mimeType: "image/png", data: "<svg onload=alert(1)>" }],
    [{ type: "text", data: PNG }],
    ["text"],
  ])("returns undefined for a remote or invalid file: %j", (block) => {
    expect(fileOf(block)).toBeUndefined();
  });
});

describeWithChromium("files attached to a message", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { chat }, settings: { body_limit: 60_000 } });
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "files-"));
    await writeFile(join(folder, "it's red.png"), Buffer.from(PNG, "base64"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const attached = (page: Page) => page.getByRole("list", { name: "Attached files" }).locator("li");
  const png = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });
  const choose = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
    page.locator("input[type=file]").setInputFiles(files);

  /** Dispatches a paste or drop event with a file. */
  const bring = (page: Page, target: string, kind: "paste" | "drop", name: string, type: string) =>
    page.evaluate(`{
      const bytes = Uint8Array.from(atob("${PNG}"), (char) => char.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], ${JSON.stringify(name)}, { type: "${type}" }));
      const more = { bubbles: true, cancelable: true };
      document.querySelector("${target}").dispatchEvent("${kind}" === "paste"
        ? new ClipboardEvent("paste", { ...more, clipboardData: data })
        : new DragEvent("drop", { ...more, dataTransfer: data }));
    }`);

  it("are chosen, pasted or dropped, removed by keyboard, sent and shown again", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/run");
    const box = page.getByRole("textbox", { name: "Message to the graph" });
    await box.fill("what is it?");
    await choose(page, png("red.png"), png("other.png"));
    await expect.poll(() => attached(page).count()).toBe(2);
    await bring(page, "#message", "paste", "voice.wav", "audio/wav");
    await expect.poll(() => attached(page).count()).toBe(3);
    await bring(page, "main", "drop", HOSTILE, "application/pdf");
    await expect.poll(() => attached(page).count()).toBe(4);
    expect(await attached(page).locator("img").count()).toBe(2);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove other.png" }).press("Enter");
    await expect.poll(() => attached(page).count()).toBe(3);
    await expect
      .poll(() => page.evaluate("document.activeElement.textContent"))
      .toContain("Remove voice.wav");
    await box.press("Enter");
    await page.getByText("You said: what is it?").waitFor();
    const said = page.locator(".said.is-human");
    await expect.poll(() => said.getByRole("img", { name: "red.png" }).count()).toBe(1);
    expect(await said.locator(".held").allTextContents()).toEqual([
      expect.stringContaining("red.png"),
      expect.stringContaining("voice.wav"),
      expect.stringContaining("<img src=x onerror=alert(1)>\\u202e$(touch pwned).pdf"),
    ]);
    await expect.poll(() => attached(page).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    const id = /#\/run\/([\w-]+)/.exec(page.url())?.[1] ?? "";
    const { values } = await service.state.get(id);
    const { content } = (values as { messages: { content: object[] }[] }).messages[0] ?? { content: [] };
    expect(content).toMatchObject([
      { type: "text", text: "what is it?" },
      { type: "image", source_type: "base64", mimeType: "image/png", data: PNG },
      { type: "audio", mimeType: "audio/wav", metadata: { filename: "voice.wav" } },
      { type: "file", mimeType: "application/pdf" },
    ]);

    const saving = page.waitForEvent("download");
    await said.getByRole("button", { name: /^Save .*pdf/ }).click();
    expect((await saving).suggestedFilename()).toBe("_img src_x onerror_alert_1_touch pwned_.pdf");
    await visit(`#/threads/${id}?tab=messages`);
    await page.locator(".message").getByRole("img", { name: "red.png" }).waitFor();
    await visit(`#/run/${id}`);
    await page.getByRole("combobox", { name: "Earlier inputs" }).selectOption({ index: 1 });
    await expect.poll(() => attached(page).count()).toBe(3);
  });

  it("are rejected before sending if the request would exceed body_limit", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run");
    await choose(page, { name: "large.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(50_000) });
    await page
      .getByRole("alert")
      .getByText(/large\.pdf was not added: the request would be 7\d kB, the server.s limit is 60 kB/)
      .waitFor();
    expect(await attached(page).count()).toBe(0);
    const half = { name: "half.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(30_000) };
    await choose(page, half, { ...half, name: "more.pdf" });
    await page.getByRole("alert").getByText("more.pdf was not added").waitFor();
    await expect.poll(() => attached(page).count()).toBe(1);
    await page.getByRole("button", { name: "Remove half.pdf" }).press("Enter");
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("message");
  });

  it("are read from disk by the copied commands", async () => {
    const { page, visit } = await open(server().url);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await visit("#/run");
    const asked = "it's `$HOME` \\n";
    await page.getByRole("textbox", { name: "Message to the graph" }).fill(asked);
    await choose(page, png("it's red.png"));
    await page.getByText("The copied command reads it_s red.png from its working folder.").waitFor();
    await writeFile(join(folder, "it_s red.png"), Buffer.from(PNG, "base64"));
    const copied = async (name: string) => {
      await page.getByRole("button", { name, exact: true }).click();
      const copied = page.getByRole("button", { name: "Copied" });
      await copied.waitFor();
      await expect.poll(() => copied.count()).toBe(0);
      return page.evaluate<string>("navigator.clipboard.readText()");
    };
    const run = async (prelude: string, text: string) =>
      JSON.parse(
        (await promisify(execFile)("sh", ["-c", `${prelude}\n${text}`], { cwd: folder })).stdout,
      ) as { input?: unknown };
    const input = { messages: [{ role: "user", content: [{ text: asked }, { data: PNG }] }] };
    expect((await run("curl() { cat; }", await copied("curl"))).input).toMatchObject(input);
    expect(await run("npx() { cat; }", await copied("graph-serve"))).toMatchObject(input);
    expect(await copied("SDK call")).toMatch(/"data": readFileSync\("it_s red\.png", "base64"\)/);
  });

  it("are not requested from other origins", async () => {
    const { service, url } = server();
    const far = "https://evil.example/a.png";
    const content = [
      { type: "image", url: far },
      { type: "image_url", image_url: { url: far } },
      { type: "image", mimeType: "image/svg+xml", data: "PHN2Zy8+" },
    ];
    const id = await ranThread(service, "chat", { messages: [{ role: "user", content }] });
    const { page, visit } = await open(url, { width: 320, scheme: "dark" });
    await visit(`#/run/${id}`);
    await page.getByRole("button", { name: "Save image/svg+xml" }).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
  });
});
