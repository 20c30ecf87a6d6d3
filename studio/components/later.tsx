/** Code splitting: a screen is loaded when it is first shown. */
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { useKeptFocus } from "../focus.js";
import { load, loading } from "../state/loading.js";
import { Fault, Waiting } from "./common.js";

/** `read` imports the module of the screen. */
export function later(read: () => Promise<ComponentType>): ComponentType {
  // Wrapped in an object, so that the component function is stored and not called.
  const part = loading<{ Screen: ComponentType }>();
  const fetchIt = () => load(part, async () => ({ Screen: await read() }));
  return function Later() {
    const { value } = part.value;
    useKeptFocus(value);
    useEffect(() => {
      if (!value) void fetchIt();
    }, []);
    if (value) return <value.Screen />;
    return (
      <main id="content" class="screen narrow" tabIndex={-1}>
        {part.error.value ? <Fault error={part.error.value} retry={() => void fetchIt()} /> : <Waiting />}
      </main>
    );
  };
}
