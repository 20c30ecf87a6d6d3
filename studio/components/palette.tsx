/** Command palette: actions of the current screen, graphs, and all threads, which the server searches. */
import { signal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ask } from "../api.js";
import { go, href } from "../router.js";
import { graphIds, graphs, loadGraphs } from "../state/graphs.js";
import { recent } from "../state/recent.js";
import { graphOf, type ListedThread, LONGEST_QUERY, SELECT, titleOf } from "../state/threads.js";
import { strings } from "../strings.js";
import { Dialog } from "./dialog.js";
import { visible } from "./text.js";

export const isPaletteShown = signal(false);

interface Command {
  name: string;
  /** Category shown next to the name. */
  kind: string;
  act: () => void;
}

/** Maximum number of visible rows. */
const SHOWN = 12;
const TYPING_MS = 150;
const TITLE_SHOWN = 60;
const THREAD_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function Palette() {
  return isPaletteShown.value ? <Open /> : null;
}

const close = (): void => void (isPaletteShown.value = false);

function Open() {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const known = useCommands();
  const threads = useThreads(text);
  const found = [...matching(known, text), ...threads.map(openThread), ...named(text, threads)].slice(
    0,
    SHOWN,
  );
  const choose = (command: Command | undefined) => {
    close();
    command?.act();
  };
  const press = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") choose(found[chosen]);
    else if (by !== undefined && found.length > 0) setChosen((chosen + by + found.length) % found.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={strings.palette.title} onClose={close}>
      <input
        type="text"
        role="combobox"
        class="palette-text"
        aria-label={strings.palette.label}
        aria-expanded={true}
        aria-controls="palette"
        aria-activedescendant={found.length > 0 ? optionId(chosen) : undefined}
        autocomplete="off"
        autofocus
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={press}
      />
      <ul id="palette" role="listbox" aria-label={strings.palette.title} class="palette">
        {found.map((command, index) => (
          <li
            key={index}
            id={optionId(index)}
            role="option"
            aria-selected={index === chosen}
            onClick={() => choose(command)}
          >
            <span class="one-line">{visible(command.name)}</span>
            <span class="dim small-text">{command.kind}</span>
          </li>
        ))}
      </ul>
      <p class="dim" role="status">
        {found.length === 0 ? strings.palette.none : ""}
      </p>
    </Dialog>
  );
}

/** Commands that the page knows without the server. */
function useCommands(): Command[] {
  const screen = useMemo(commandsOfScreen, []);
  useEffect(() => void (graphs.value.peek() ?? loadGraphs()), []);
  return [...screen, ...graphIds.value.map(openGraphPage)];
}

const optionId = (index: number): string => `palette-${index}`;

/** Visible links and buttons, except those in lists. */
function commandsOfScreen(): Command[] {
  const commands = new Map<string, Command>();
  for (const element of document.querySelectorAll<HTMLElement>(".bar a, .bar button, main a, main button")) {
    const name = element.getAttribute("aria-label") ?? element.innerText.replaceAll(/\s+/g, " ").trim();
    const isOfList = element.closest("[data-list], [role=listbox], [role=tree], article") !== null;
    if (name === "" || commands.has(name) || isOfList || !element.checkVisibility()) continue;
    const kind = element.closest("nav") ? strings.palette.screen : strings.palette.here;
    // Deferred until the dialog is closed: elements below a modal dialog cannot be clicked.
    commands.set(name, { name, kind, act: () => setTimeout(() => element.click()) });
  }
  return [...commands.values()];
}

const openGraphPage = (id: string): Command => ({
  name: id,
  kind: strings.palette.graph,
  act: () => go(href(["graphs", id])),
});

/** Threads that match the text; the most recent ones if it is empty. */
function useThreads(text: string): readonly ListedThread[] {
  const [found, setFound] = useState<readonly ListedThread[]>(recent.value);
  useEffect(() => {
    const query = text.trim().slice(0, LONGEST_QUERY);
    if (query === "") return setFound(recent.value);
    // Until the server answers, only threads that still match can be chosen.
    setFound((before) => before.filter((thread) => matching([openThread(thread)], query).length > 0));
    let isStale = false;
    const search = async () => {
      const body = { query, limit: SHOWN, select: SELECT };
      const answer = await ask<ListedThread[]>("POST", "/threads/search", { body });
      if (!isStale) setFound(answer.body);
    };
    // Without an answer, commands and graphs can still be chosen.
    const timer = setTimeout(() => void search().catch(() => undefined), TYPING_MS);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [text]);
  return found;
}

function openThread(thread: ListedThread): Command {
  const { thread_id } = thread;
  const title = titleOf(thread).slice(0, TITLE_SHOWN).replaceAll("\n", " ");
  return {
    name: [title, graphOf(thread), thread_id].filter(Boolean).join(" "),
    kind: strings.palette.thread,
    act: () => go(href(["threads", thread_id])),
  };
}

/** Opens a thread that is not loaded, by its full id. */
function named(text: string, threads: readonly ListedThread[]): Command[] {
  const id = text.trim().toLowerCase();
  if (!THREAD_ID.test(id) || threads.some(({ thread_id }) => thread_id === id)) return [];
  return [{ name: id, kind: strings.palette.thread, act: () => go(href(["threads", id])) }];
}

/** Commands that contain every word of the text. */
function matching(commands: readonly Command[], text: string): Command[] {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ name, kind }) =>
    parts.every((part) => `${name} ${kind}`.toLowerCase().includes(part)),
  );
}
