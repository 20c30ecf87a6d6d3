/** Undelivered webhooks, as users see them. */
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import type { Webhook, WebhookFilter } from "../models/webhook.js";
import { now } from "../storage/rows/rows.js";
import type { TimerRow } from "../storage/contract/timers.js";
import { GraphServeError, NotFoundError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import type { OpsContext } from "../context/context.js";
import { scopeOf } from "../threads/thread-origin.js";
import { pageResult } from "../threads/thread-search.js";
import { type Timers, timersWhere } from "../context/timers.js";
import type { WebhookRow } from "./webhook-sender.js";

export class Webhooks {
  readonly #context: OpsContext;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /** The webhooks of the caller, oldest first. */
  async list({ status, limit = DEFAULT_LIMIT, offset = 0 }: WebhookFilter): Promise<Page<Webhook>> {
    // Payloads may be large, so rows are read in pages.
    const found = await timersWhere(this.#timers(), { kind: "webhook" }, (row) => {
      const webhook = this.#isVisible(row) ? webhookModel(row as WebhookRow) : undefined;
      return status && webhook?.status !== status ? undefined : webhook;
    });
    return pageResult(found.slice(offset, offset + limit), found.length, offset);
  }

  /**
   * Sends a webhook now, with a full set of attempts.
   * @throws NotFoundError (`webhook_not_found`), also if the webhook belongs to another caller
   */
  async send(runId: string): Promise<void> {
    const timers = this.#timers();
    for (;;) {
      const row = await this.#row(runId);
      if (row.data.payload === null) return;
      const data = { ...row.data, sendings: 0, failed_at: null };
      if (await timers.table.replace({ ...row, due_at: now(), data })) return timers.wake();
    }
  }

  /** @throws NotFoundError (`webhook_not_found`), also if the webhook belongs to another caller */
  async delete(runId: string): Promise<void> {
    const { id } = await this.#row(runId);
    await this.#timers().table.delete("webhook", id);
  }

  async #row(runId: string): Promise<WebhookRow> {
    const id = requireUuid(runId, ["path", "run_id"]);
    const row = await this.#timers().table.get("webhook", id);
    if (!row || !this.#isVisible(row)) throw new NotFoundError("webhook", id);
    return row as WebhookRow;
  }

  #isVisible({ scope }: TimerRow): boolean {
    return !this.#context.caller || scope === scopeOf(this.#context);
  }

  #timers(): Timers {
    const { timers } = this.#context;
    if (timers?.kinds.includes("webhook")) return timers;
    throw new GraphServeError("unsupported_option", "webhooks are not sent: the setting webhooks is missing");
  }
}

/** Hides the query of the URL, which may contain a secret. */
function webhookModel({ id, created_at, due_at, data }: WebhookRow): Webhook {
  const { thread_id, url, payload, sendings, last_error, failed_at } = data;
  const { origin, pathname } = new URL(url);
  return {
    run_id: id,
    thread_id,
    url: origin + pathname,
    status: failed_at === null ? "pending" : "failed",
    sendings,
    last_error,
    created_at,
    next_sending_at: payload === null || failed_at !== null ? null : due_at,
    failed_at,
  };
}
