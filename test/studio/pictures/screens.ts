/** The screens of the Studio, each with the steps that lead to it. */
import type { Page } from "playwright-core";
import { THREADS } from "./desk.js";

export interface Screen {
  name: string;
  /** Address after the `#`. */
  place: string;
  /** What is visible once the screen is complete. */
  ready: string;
  /** What a user does there before the picture. */
  act?: (page: Page) => Promise<void>;
  /** Follows a run, so that requests stay open. */
  isLive?: boolean;
  /** Whether docs/studio.md shows it. */
  isInDocs?: boolean;
}

const { order, charged, waiting, failed, running, forked } = THREADS;

const press = (page: Page, key: string): Promise<void> => page.keyboard.press(key);

export const SCREENS: readonly Screen[] = [
  { name: "graphs", place: "/graphs", ready: "[data-list] a:has-text('digest')" },
  { name: "graph", place: "/graphs/support", ready: ".graph-node" },
  { name: "new-thread", place: "/run?graph=support", ready: ".composer" },
  { name: "conversation", place: `/run/${order}`, ready: ".node-line", isInDocs: true },
  {
    name: "node",
    place: `/run/${order}`,
    ready: ".node-line",
    act: async (page) => {
      await openGraph(page);
      await page.getByRole("button", { name: /^agent .*ran$/ }).press("Enter");
      await page.locator(".node-panel .node-facts").waitFor();
    },
  },
  { name: "running", place: `/run/${running}`, ready: ".progress .is-busy:has-text('agent')", isLive: true },
  { name: "failed", place: `/run/${failed}`, ready: ".fault-file", isInDocs: true },
  { name: "two-threads", place: `/run/${order}?beside=${charged}`, ready: ".beside .chat" },
  { name: "changes", place: `/threads/${forked}?tab=changes`, ready: ".changes", isInDocs: true },
  { name: "state", place: `/threads/${forked}?tab=state`, ready: "[role=treeitem]" },
  { name: "messages", place: `/threads/${order}?tab=messages`, ready: ".message.is-ai" },
  { name: "timeline", place: `/threads/${order}?tab=times`, ready: ".bar-row", isInDocs: true },
  { name: "failed-step", place: `/threads/${failed}`, ready: ".fault-file" },
  { name: "threads", place: "/threads", ready: "tbody tr >> nth=7", isInDocs: true },
  { name: "runs", place: "/runs", ready: "tbody tr >> nth=8" },
  { name: "inbox", place: "/inbox", ready: ".inbox-row", isInDocs: true },
  { name: "inbox-thread", place: `/inbox/${waiting}`, ready: ".asker .questions" },
  { name: "usage", place: "/usage?since=week", ready: ".usage-table", isInDocs: true },
  {
    name: "heat-map",
    place: "/graphs/support?heat=time&since=week",
    ready: ".graph-node.is-heat",
    isInDocs: true,
  },
  {
    name: "compare",
    place: `/compare/${order}@-1/${charged}@-1`,
    ready: "main >> text=Common steps",
    isInDocs: true,
  },
  { name: "memory", place: "/store/users/ada", ready: "text=Via Po 12" },
  {
    name: "case-file",
    place: `/threads/${order}`,
    ready: "[role=tabpanel]",
    act: async (page) => {
      await page.getByRole("button", { name: "Runs" }).click();
      await page.getByRole("button", { name: /^Case file/ }).click();
      await page.getByRole("dialog").getByText("graph: ").first().waitFor();
      // The click has scrolled a narrow page, which may have grown since.
      await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    },
    isInDocs: true,
  },
  {
    name: "palette",
    place: `/run/${order}`,
    ready: ".node-line",
    act: async (page) => {
      await press(page, "Control+k");
      await page.keyboard.type("order");
      await page.locator("#palette [role=option]").first().waitFor();
    },
  },
  {
    name: "shortcuts",
    place: "/threads",
    ready: "tbody tr >> nth=7",
    act: async (page) => {
      await press(page, "?");
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "prices",
    place: `/threads/${order}?tab=times`,
    ready: ".bar-row",
    act: async (page) => {
      await page.getByRole("button", { name: "Prices" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
];

/** After a deploy that renamed the node in which the thread waits. */
export const VERSIONS: Screen = {
  name: "versions",
  place: `/threads/${waiting}`,
  ready: ".version-note",
};

/** After `shadow --studio`, which adds a link to all screens. */
export const SHADOW: Screen = {
  name: "shadow",
  place: "/shadow",
  ready: ".shadow-list li >> nth=2",
  isInDocs: true,
};

/** On small screens the graph is folded. */
export async function openGraph(page: Page): Promise<void> {
  const summary = page.locator(".run-map > summary");
  if (await summary.isVisible()) await summary.click();
  await page.locator(".graph-node").first().waitFor();
}
