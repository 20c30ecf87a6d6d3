/** Sends webhooks according to Standard Webhooks: signed and retried. Failed webhooks are kept. */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { Caller } from "../models/caller.js";
import type { JsonObject } from "../models/common.js";
import type { TimerRow, TimerTable } from "../storage/contract/timers.js";
import { now } from "../storage/rows/rows.js";
import { ConfigError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { post, OutboundPolicy } from "../support/outbound.js";
import { WEBHOOKS_HINT } from "../support/webhook-hint.js";
import { VERSION } from "../support/own-package.js";
import type { EngineContext } from "../runs/live-runs.js";
import { dueAfter, type WebhookSettings } from "../context/timers.js";

/** How long a receiver may take to respond, in milliseconds. */
const ANSWER_MS = 10_000;
const MOST_SENDINGS = 8;
/** Delay before the first retry, in milliseconds. Each further delay is `GROWTH` times as long. */
const FIRST_PAUSE_MS = 5_000;
const GROWTH = 6;
const LONGEST_PAUSE_MS = 12 * 60 * 60 * 1000;
/** How long failed webhooks are kept. */
const KEEP_FAILED_DAYS = 7;
const GONE = 410;

export interface WebhookData {
  url: string;
  thread_id: string;
  caller: Caller | null;
  /** The request body; null until the run has ended. */
  payload: string | null;
  /** The attempt of the run that ended. Rows of earlier releases do not have it. */
  attempt?: number | null;
  /** The trace of the run, which the receiver can continue. */
  traceparent?: string;
  sendings: number;
  last_error: string | null;
  /** Time of the last attempt, once no further one follows. */
  failed_at: string | null;
}

export type WebhookRow = TimerRow & { data: WebhookData & JsonObject };

const senders = new WeakMap<WebhookSettings, WebhookSender>();

/** @throws ConfigError (`config_invalid`) */
export function webhookSender(settings: WebhookSettings): WebhookSender {
  const sender = senders.get(settings) ?? new WebhookSender(settings);
  senders.set(settings, sender);
  return sender;
}

class WebhookSender {
  readonly #key: Buffer;
  readonly #reach: OutboundPolicy;

  constructor(settings: WebhookSettings) {
    this.#key = keyOf(settings.secret);
    this.#reach = new OutboundPolicy(settings);
  }

  /** The caller holds the row until its lease ends. @throws ShuttingDownError (`shutting_down`) */
  async send(context: EngineContext, row: WebhookRow, at: string): Promise<void> {
    const table = context.timers?.table as TimerTable;
    const stopping = context.live.stopping;
    const failure = await this.#deliver(row, stopping);
    if (failure === undefined) return void (await table.delete("webhook", row.id, row.version));
    // Another process can immediately send a webhook that a shutdown has aborted.
    stopping.throwIfAborted();
    const sendings = row.data.sendings + 1;
    const isOver = failure.isFinal || sendings >= MOST_SENDINGS;
    const fields = { run_id: row.id, sendings, reason: failure.reason };
    if (isOver) context.logger.error(fields, "a webhook could not be delivered, and is not retried any more");
    else context.logger.warn(fields, "a webhook could not be delivered, and will be retried");
    const pause = isOver ? KEEP_FAILED_DAYS * 24 * 60 * 60 * 1000 : pauseAfter(sendings);
    // The pause starts with the failure: a receiver that does not respond takes longer than the first pause.
    const due_at = dueAfter(at, pause);
    const failed_at = isOver ? now() : null;
    await table.replace({
      ...row,
      due_at,
      data: { ...row.data, sendings, failed_at, last_error: failure.reason },
    });
  }

  /** Undefined if the webhook was delivered. */
  async #deliver({ id, data }: WebhookRow, stopping: AbortSignal) {
    const body = data.payload ?? "";
    const late = AbortSignal.timeout(ANSWER_MS);
    const signal = AbortSignal.any([late, stopping]);
    try {
      const status = await post(data.url, {
        headers: this.#headers(messageId(id, data), body, data.traceparent),
        body,
        reach: this.#reach,
        signal,
      });
      if (status >= 200 && status < 300) return undefined;
      return { reason: `the receiver answered ${status}`, isFinal: status === GONE };
    } catch (error) {
      const reason = late.aborted ? `no answer within ${ANSWER_MS / 1000} s` : errorMessage(error);
      return { reason, isFinal: false };
    }
  }

  #headers(id: string, body: string, traceparent: string | undefined): Record<string, string> {
    const timestamp = Math.floor(Date.now() / 1000).toString();
    const signature = createHmac("sha256", this.#key).update(`${id}.${timestamp}.${body}`).digest("base64");
    return {
      "content-type": "application/json",
      "user-agent": `graph-serve/${VERSION}`,
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
      ...(traceparent !== undefined && { traceparent }),
    };
  }
}

/** A dead run that is redriven ends again, with another attempt. That end is a separate message. */
const messageId = (runId: string, { attempt }: WebhookData): string =>
  (attempt ?? 1) > 1 ? `msg_${runId}_${attempt}` : `msg_${runId}`;

const pauseAfter = (sendings: number): number =>
  Math.min(FIRST_PAUSE_MS * GROWTH ** (sendings - 1), LONGEST_PAUSE_MS);

const PREFIX = "whsec_";

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const isWhole =
    secret.startsWith(PREFIX) &&
    key.toString("base64").replace(/=+$/, "") === secret.slice(PREFIX.length).replace(/=+$/, "");
  if (isWhole && key.length >= 24 && key.length <= 64) return key;
  throw new ConfigError("webhooks.secret is not a Standard Webhooks secret", {
    hint: WEBHOOKS_HINT,
  });
}
