/** Tokens of a step, its run and its thread, and their cost at the user's prices. */
import { useState } from "preact/hooks";
import type { RunTasks } from "../../src/models/run.js";
import type { TokenCounts } from "../../src/models/token-counts.js";
import { Dialog } from "../components/dialog.js";
import { costText } from "../components/costs.js";
import { type Cost, costOf, parsePrices, tokensIn } from "../components/prices.js";
import { visible } from "../components/text.js";
import { rootTasks } from "../components/timeline.js";
import { chosenStep, namespace } from "../state/thread.js";
import { prices, priceText } from "../state/prices.js";
import { threadCost, threadTokens } from "../state/times.js";
import { strings } from "../strings.js";

const COLUMNS = ["of", "input", "output", "total"] as const;

export function Tokens({ told }: { told: RunTasks }) {
  const [isAsked, setAsked] = useState(false);
  const step = chosenStep.value?.number;
  const ofStep = step == null || namespace.value !== "" ? [] : rootTasks(told.tasks, step);
  const list = prices.value;
  const costs = [costOf(ofStep, list), costOf(told.tasks, list), threadCost.value];
  return (
    <section class="tokens" aria-label={strings.tokens.title}>
      <table>
        <caption class="visually-hidden">{strings.tokens.title}</caption>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {strings.tokens[name]}
              </th>
            ))}
            <th scope="col">{strings.tokens.cost}</th>
          </tr>
        </thead>
        <tbody>
          <TokenRow name={strings.tokens.step} counts={tokensIn(ofStep)} costs={costs} index={0} />
          <TokenRow name={strings.tokens.run} counts={tokensIn(told.tasks)} costs={costs} index={1} />
          <TokenRow name={strings.tokens.thread} counts={threadTokens.value} costs={costs} index={2} />
        </tbody>
      </table>
      <p>
        <button type="button" class="small" onClick={() => setAsked(true)}>
          {strings.tokens.prices}
        </button>
        <Unpriced costs={costs} />
      </p>
      {isAsked && <Prices onClose={() => setAsked(false)} />}
    </section>
  );
}

type Costs = readonly (Cost | undefined)[];

interface TokenRowProps {
  name: string;
  counts: TokenCounts;
  costs: Costs;
  index: number;
}

function TokenRow({ name, counts, costs, index }: TokenRowProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{counts.input_tokens.toLocaleString()}</td>
      <td>{counts.output_tokens.toLocaleString()}</td>
      <td>{counts.total_tokens.toLocaleString()}</td>
      <td>{costText(costs[index])}</td>
    </tr>
  );
}

function Unpriced({ costs }: { costs: Costs }) {
  const names = [...new Set(costs.flatMap((cost) => cost?.unpriced ?? []))];
  if (names.length === 0) return null;
  return <span class="dim small-text"> {strings.tokens.unpriced(visible(names.join(", ")))}</span>;
}

function Prices({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState(priceText.value);
  const list = parsePrices(text);
  const fault = "line" in list ? list.line : undefined;
  return (
    <Dialog title={strings.tokens.prices} onClose={onClose} isForm>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (fault !== undefined) return;
          priceText.value = text;
          onClose();
        }}
      >
        <label>
          <span>{strings.tokens.list}</span>
          <textarea
            class="code"
            rows={8}
            autofocus
            spellcheck={false}
            value={text}
            placeholder={strings.tokens.example}
            aria-invalid={fault !== undefined}
            aria-describedby={fault === undefined ? undefined : "price-fault"}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        {fault !== undefined && (
          <p id="price-fault" class="bad" role="alert">
            {strings.tokens.fault(fault)}
          </p>
        )}
        <p class="dim">{strings.tokens.note}</p>
        <p class="actions">
          <button type="submit" class="main" disabled={fault !== undefined}>
            {strings.tokens.keep}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
