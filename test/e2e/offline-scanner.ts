import { randomUUID } from "node:crypto";
import type { Answer } from "./test-platform.ts";

/** Sends a request with the token of the device. A request whose answer is lost throws. */
type Ask = (
  method: string,
  path: string,
  sent?: { readonly body?: object; readonly headers?: Record<string, string> },
) => Promise<Answer>;

interface Checkin {
  readonly list: number;
  readonly datetime: string;
  readonly type: "entry" | "exit";
}

interface Ticket {
  readonly id: number;
  readonly secret: string;
  readonly checkins: readonly Checkin[];
}

interface SyncedOrder {
  readonly code: string;
  readonly datetime: string;
  readonly status: string;
  readonly positions: readonly Ticket[];
}

interface Queued {
  readonly secret: string;
  readonly type: "entry" | "exit";
  readonly datetime: string;
  readonly nonce: string;
}

/** A scan that a device decided, by the ticket that it was of. */
export interface Decided extends Queued {
  readonly admitted: boolean;
}

/** What the library of pretixSCAN leaves out of orders. */
const orderQuery = [
  "testmode=false&pdf_data=true",
  ...["downloads", "payment_date", "payment_provider", "fees", "positions.downloads", "payments", "refunds"].map(
    (field) => `exclude=${field}`,
  ),
].join("&");

/**
 * Works as the library of pretixSCAN does without a network: reads everything once and then what has changed, decides scans by that,
 * and sends them later with `force` until each is answered.
 */
export class OfflineScanner {
  readonly #ask: Ask;
  readonly #organizer: string;
  readonly #event: string;
  readonly #list: number;
  readonly #orders = new Map<string, SyncedOrder>();
  readonly #lastModified = new Map<string, string>();
  readonly #queue: Queued[] = [];
  /** `X-Page-Generated` of the last whole sync of orders. */
  #ordersAsOf: string | undefined;
  /** Of the last order of a first sync that was interrupted. */
  #interruptedAt: string | undefined;

  constructor(ask: Ask, { organizer, event, list }: { organizer: string; event: string; list: number }) {
    this.#ask = ask;
    this.#organizer = organizer;
    this.#event = event;
    this.#list = list;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  get orders(): number {
    return this.#orders.size;
  }

  /** One sync. `interruptAfter` ends it after so many pages of orders, as a lost network does. */
  async sync({ interruptAfter = Number.POSITIVE_INFINITY } = {}): Promise<void> {
    for (const path of ["", "settings/", "badgelayouts/", "badgeitems/"]) await this.#get(`${this.#event}/${path}`);
    for (const path of ["categories/", "items/", "questions/", "checkinlists/"]) await this.#getIfChanged(path);
    for (const path of ["revokedsecrets/", "blockedsecrets/"]) await this.#get(`${this.#event}/${path}`);
    for (const path of ["subevents/", "reusablemedia/"]) await this.#get(`${this.#organizer}/${path}`);
    await this.#syncOrders(interruptAfter);
  }

  async #syncOrders(most: number): Promise<void> {
    const since = encodeURIComponent(this.#ordersAsOf ?? this.#interruptedAt ?? "");
    const query =
      this.#ordersAsOf !== undefined
        ? `${orderQuery}&ordering=-last_modified&modified_since=${since}`
        : this.#interruptedAt !== undefined
          ? `${orderQuery}&ordering=datetime&created_since=${since}`
          : `${orderQuery}&ordering=datetime`;
    let [pages, asOf]: [number, string | undefined] = [0, undefined];
    for (let path: string | null = `${this.#event}/orders/?${query}`; path !== null; ) {
      if (pages === most) return;
      const { body, headers }: Answer = await this.#get(path);
      asOf ??= headers.get("x-page-generated") ?? undefined;
      for (const order of body.results as SyncedOrder[]) {
        this.#orders.set(order.code, order);
        if (this.#ordersAsOf === undefined) this.#interruptedAt = order.datetime;
      }
      path = body.next === null ? null : pathOf(body.next as string);
      pages += 1;
    }
    this.#ordersAsOf = asOf;
  }

  async #getIfChanged(name: string): Promise<void> {
    const known = this.#lastModified.get(name);
    const { status, headers } = await this.#get(`${this.#event}/${name}`, known);
    const changed = headers.get("last-modified");
    if (status === 200 && changed !== null) this.#lastModified.set(name, changed);
  }

  async #get(path: string, ifModifiedSince?: string): Promise<Answer> {
    const headers = ifModifiedSince === undefined ? {} : { "if-modified-since": ifModifiedSince };
    const answer = await this.#ask("GET", path, { headers });
    if (answer.status !== 200 && answer.status !== 304) throw new Error(`${path} answered ${answer.status}`);
    return answer;
  }

  /** Decides a scan by what was synced and scanned here, in whole seconds. */
  scan(secret: string, type: "entry" | "exit", at: Date): Decided {
    const datetime = `${at.toISOString().slice(0, 19)}Z`;
    const queued = { secret, type, datetime, nonce: randomUUID() };
    const order = [...this.#orders.values()].find(({ positions }) => positions.some((each) => each.secret === secret));
    const ticket = order?.positions.find((each) => each.secret === secret);
    const made = this.#queue.filter((each) => each.secret === secret);
    const past = [...(ticket?.checkins ?? []).filter(({ list }) => list === this.#list), ...made].toSorted(
      (a, b) => Date.parse(a.datetime) - Date.parse(b.datetime),
    );
    const isInside = past.at(-1)?.type === "entry";
    const admitted = order?.status === "p" && (type === "exit" || !isInside);
    if (admitted) this.#queue.push(queued);
    return { ...queued, admitted };
  }

  /** Sends what waits. A scan stays in the queue until its answer says `ok`, or is 400 or 404. */
  async upload(): Promise<void> {
    for (const scan of [...this.#queue]) {
      const { secret, ...said } = scan;
      const path = `${this.#event}/checkinlists/${this.#list}/positions/${encodeURIComponent(secret)}/redeem/`;
      const body = { ...said, force: true, questions_supported: false, ignore_unpaid: false, answers: {} };
      const answer = await this.#ask("POST", path, {
        body: { ...body, canceled_supported: true, source_type: "barcode" },
      });
      const isOver = answer.body.status === "ok" || answer.status === 400 || answer.status === 404;
      if (isOver) this.#queue.splice(this.#queue.indexOf(scan), 1);
    }
  }
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
