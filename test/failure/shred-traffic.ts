import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { eventData, itemData, listData, ofEvent, orderData, positionData } from "../e2e/sample-records.ts";
import { apiKey, toLines } from "./festival.ts";
import { describeFailure } from "./import-until-answered.ts";

/** Of each kind of personal data something that stands nowhere else. */
export const guest = {
  name: "Åsa Quillfeather-Łukasiewicz 山田",
  company: "Zwiebelwerk GmbH & Söhne",
  street: "Glockenspielgasse",
  city: "Hinterpfuideifl",
  attendeeEmail: "quillfeather@attendees.example",
  orderEmail: "quirk@buyers.example",
  phone: "+49 621 998877665",
  invoice: "Schnurrbartwichse",
  answer: "hazelnut allergy",
  gateAnswer: "came with a ferret",
  fileName: "passport-of-asa.pdf",
  waiting: "Waldemar Wartegern",
  passport: "P<UTOQUILLFEATHER<<ASA",
  file: "secret passport page 4711",
} as const;
export const texts: readonly string[] = Object.values(guest);

export const kinds = [
  ...["attendee_info", "order_emails", "cachedtickets", "invoice_addresses", "phone_numbers"],
  ...["question_answers", "waiting_list"],
] as const;

const file = fileWith("application/pdf", guest.file).toString("base64");

export const secretOf = (event: string, number: number) => `${event}-secret-${number}-0123456789abcdef`;

/** How much of an event has what. */
export interface Size {
  readonly orders: number;
  readonly files: number;
  readonly vouchers: number;
}

/** An order with everything that is personal. */
export function guestOrder(event: string, number: number, { hasFile = false } = {}) {
  const place = { company: guest.company, street: `${guest.street} ${number}`, zipcode: "98765", city: guest.city };
  const fileAnswer = {
    ...{ question: 82, answer: `data:application/pdf;base64,${file}`, question_identifier: "PASSPORT" },
    file_name: guest.fileName,
  };
  const data = orderData({
    ...{ code: `G${number}`, email: `${number}.${guest.orderEmail}`, phone: guest.phone },
    invoice_address: { name: `${guest.invoice} ${number}`, ...place, country: "DE" },
    positions: [
      positionData({
        ...{ id: number, secret: secretOf(event, number), pseudonymization_id: `${event}-${number}` },
        attendee_name: `${guest.name} ${number}`,
        attendee_name_parts: { _scheme: "full", full_name: `${guest.name} ${number}` },
        ...{ attendee_email: `${number}.${guest.attendeeEmail}`, country: "DE", ...place },
        answers: [
          { question: 81, answer: `${guest.answer} ${number}`, question_identifier: "DIET" },
          ...(hasFile ? [fileAnswer] : []),
        ],
      }),
    ],
  });
  return ofEvent("order", data, event);
}

/** An event that is over, with its orders and vouchers, as lines. */
export function guestEvent(event: string, size: Size): string {
  const of = (kind: string, data: Record<string, unknown>) => ofEvent(kind, data, event);
  const question = (id: number, more: object) =>
    of("question", { id, question: { en: `Question ${id}` }, type: "S", items: [1], ...more });
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  return toLines([
    of("event", eventData({ slug: event, ...over })),
    of("event_settings", { locale: "en", ticket_download: true }),
    of("category", { id: 1, name: { en: "Tickets" }, position: 1 }),
    of("item", itemData()),
    question(81, { identifier: "DIET" }),
    question(82, { identifier: "PASSPORT", type: "F" }),
    question(83, { identifier: "ELSE", ask_during_checkin: true, required: false }),
    of("checkin_list", listData()),
    of("ticket_layout", { id: 1, name: "Plain", default: true, layout: [] }),
    ...numbers(size.orders).map((number) => guestOrder(event, number, { hasFile: number <= size.files })),
    ...numbers(size.vouchers).map((id) =>
      of("voucher", { id, code: `WAIT${id}`, tag: "waiting-list", comment: `${guest.waiting} ${id}`, max_usages: 1 }),
    ),
  ]);
}

const over = { live: false, date_from: "2020-01-01T10:00:00Z", date_to: "2020-01-02T10:00:00Z" };

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read into bodies of every shape
  readonly body: any;
}

/** After so long a job hangs. */
const endsWithinMs = 500_000;

/** How a client asks that must have an answer. */
export interface Asking {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly key?: string;
  readonly idempotencyKey?: string;
}

/** Asks both gateways in turn until one of them answers, whatever dies meanwhile. */
async function ask(
  baseUrls: readonly string[],
  path: string,
  { method = "GET", body, key = apiKey, idempotencyKey = randomUUID() }: Asking = {},
): Promise<Answer> {
  let last = "";
  for (let until = Date.now() + endsWithinMs, asked = 0; Date.now() < until; await sleep(50)) {
    asked += 1;
    try {
      const answer = await fetch(`${baseUrls[asked % baseUrls.length]}${path}`, {
        method,
        headers: {
          authorization: `Token ${key}`,
          ...(method === "POST" ? { "content-type": "application/json", "x-idempotency-key": idempotencyKey } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
      const { status } = answer;
      last = `${status} ${isJson ? bytes.toString().slice(0, 300) : ""}`;
      const isUnderWay = status === 409 && method === "POST";
      if (![503, 504].includes(status) && !isUnderWay)
        return { status, body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined };
    } catch (error) {
      last = describeFailure(error);
    }
  }
  throw new Error(`${method} ${path} was answered ${last}`);
}

/** The schemas with work of an erasure. */
const schemas = ["boxoffice", "checkin", "gateway", "layout", "shredder", "voucher"] as const;

/** Lets work that rests after a failed try go on, as a minute would; with leases of processes that are dead. */
export async function hurry(db: Db, { ended = [] }: { readonly ended?: readonly string[] } = {}): Promise<void> {
  for (const schema of schemas) {
    await db.run(sql`
      update ${identifier(schema)}.work
         set due_at = now()
       where work.due_at > now()
         and work.state = any(${ended.includes(schema) ? ["waiting", "running"] : ["waiting"]}::text[])`);
  }
}

/** The addresses of an export that was started. */
export interface Started {
  readonly download: string;
  readonly shred: string;
}

/** A client of the erasures of an event. */
export function shredClient(
  of: { readonly baseUrls: readonly string[]; readonly db: Db },
  event: string,
  key = apiKey,
) {
  const path = `/api/v1/organizers/bigevents/events/${event}`;
  const send = (to: string, how: Asking = {}) => ask(of.baseUrls, to, { key, ...how });
  const at = (address: string) => new URL(address).pathname;

  /** Waits for the end of a job. */
  async function untilEnded(address: string): Promise<Answer> {
    for (const until = Date.now() + endsWithinMs; Date.now() < until; await sleep(100)) {
      // The database may be away.
      await hurry(of.db).catch(() => {});
      const answer = await send(at(address));
      if (answer.status !== 409) return answer;
    }
    throw new Error(`${address} has not ended`);
  }

  /** Makes an export. */
  async function makeExport(shredders: readonly string[] = kinds): Promise<Started> {
    const { status, body } = await send(`${path}/shredders/export/`, { method: "POST", body: { shredders } });
    if (status !== 202) throw new Error(`an export was answered ${status} ${JSON.stringify(body)}`);
    const ended = await untilEnded(body.download);
    if (ended.status !== 200) throw new Error(`an export ended with ${ended.status} ${JSON.stringify(ended.body)}`);
    return body;
  }

  return {
    path,
    send,
    untilEnded,
    makeExport,
    /** Starts to erase what was exported; returns where its status is. */
    async startShred({ shred }: Started): Promise<string> {
      const { status, body } = await send(at(shred), { method: "POST" });
      if (status !== 202) throw new Error(`an erasure was answered ${status} ${JSON.stringify(body)}`);
      return body.status;
    },
    /** How many of each kind were erased, by the certificate: `service shredder holding`. */
    async certified(status: string): Promise<Record<string, number>> {
      const id = at(status).split("/").at(-3) ?? "";
      const { body } = await send(`${path}/shredders/certificate/${id}/`);
      const { services } = body.statement as {
        services: { service: string; erased: { shredder: string; holding: string; count: number }[] }[];
      };
      return Object.fromEntries(
        services.flatMap(({ service, erased }) =>
          erased.map(({ shredder, holding, count }) => [`${service} ${shredder} ${holding}`, count]),
        ),
      );
    },
  };
}
