import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { apiKey, groundwork, onEmptyPlatform, recordOf } from "./on-empty-platform.ts";
import { quantile } from "./quantile.ts";
import { scannedTickets, scanUntil, secretOf } from "./scan-beside.ts";
import { usageOf } from "./usage.ts";

const event = "/api/v1/organizers/bench/events/over";
const kinds = ["attendee_info", "order_emails", "phone_numbers", "invoice_addresses", "question_answers"];

/** What is promised of an event with a hundred thousand orders, and of the gates of other events meanwhile. */
const limit = { orders: 100_000, seconds: 30, slower: 1.5 } as const;

const ordersAtATime = 10_000;
const quietMs = 5000;

/**
 * Exports and erases the personal data of an event with so many orders, beside scans at the gates of another one. The ratio
 * compares the erasure with an update that writes the same rows once.
 */
export function benchShred({ orders }: { readonly orders: number }): Promise<void> {
  return onEmptyPlatform(async ({ baseUrl, serving, progress, open, send }) => {
    await send([...groundwork, ...scannedTickets(), ...ground()]);
    for (let from = 0; from < orders; from += ordersAtATime) {
      progress.update(`importing… ${from} of ${orders}`);
      await send(
        Array.from({ length: Math.min(ordersAtATime, orders - from) }, (_, index) => orderOf(from + index + 1)),
      );
    }
    progress.update("scanning alone…");
    const before = await scanUntil(baseUrl, { first: 1, until: sleep(quietMs) });
    progress.update("exporting…");
    const started = await post(baseUrl, `${event}/shredders/export/`, { shredders: kinds });
    const exporting = untilEnded(baseUrl, started["download"] ?? "");
    const besideExport = await scanUntil(baseUrl, { first: 500, until: exporting });
    const exported = await exporting;
    progress.update("erasing…");
    const shred = await post(baseUrl, new URL(started["shred"] ?? "").pathname, {});
    const erasing = untilEnded(baseUrl, shred["status"] ?? "");
    const besideErasure = await scanUntil(baseUrl, { first: 1000, until: erasing });
    const erased = await erasing;
    const { peakMegabytes } = await usageOf(serving.pid);
    progress.update("updating the same rows…");
    const plain = await updatePlainly(open("boxoffice"));
    const [quiet, ofExport, ofErasure] = [before, besideExport, besideErasure].map((took) => quantile(took, 0.99));
    const seconds = (limit.seconds * orders) / limit.orders;
    const rows = [
      ["", "measured", "promised"],
      [`export of ${orders} orders`, `${exported.toFixed(1)} s`, `${seconds.toFixed(1)} s`],
      ["erased everywhere", `${erased.toFixed(1)} s`, `${seconds.toFixed(1)} s`],
      ["plain update of orders and positions", `${plain.toFixed(1)} s`, ""],
      ["ratio to that", (erased / plain).toFixed(1), ""],
      ["scans of another event alone, p99", `${quiet?.toFixed(0)} ms`, ""],
      [
        "beside the export, beside the erasure",
        `${ofExport?.toFixed(0)}, ${ofErasure?.toFixed(0)} ms`,
        `${limit.slower}×`,
      ],
      ["peak memory of the process, with all services", `${peakMegabytes.toFixed(0)} MiB`, ""],
    ];
    process.stdout.write(`${columns(rows)}\n`);
    if (exported > seconds || erased > seconds) process.exitCode = 1;
  });
}

/** An event that is over, with a question. */
function ground(): string[] {
  const of = (kind: string, data: object) => recordOf(kind, data, { event: "over" });
  return [
    of("event", {
      slug: "over",
      name: { en: "Over" },
      live: false,
      currency: "EUR",
      date_from: "2020-07-01T10:00:00Z",
    }),
    of("item", { id: 1, name: { en: "Ticket" }, default_price: "99.00", admission: true, active: true }),
    of("question", { id: 1, question: { en: "Diet?" }, type: "S", identifier: "DIET", items: [1] }),
  ];
}

function orderOf(number: number): string {
  const name = `Attendee Number ${number}`;
  const place = { street: `Street ${number}`, zipcode: "12345", city: "Sampletown", country: "DE" };
  return recordOf(
    "order",
    {
      code: `S${number.toString(36).toUpperCase().padStart(6, "0")}`,
      ...{ status: "p", datetime: "2020-01-01T12:00:00Z", total: "99.00", phone: `+49 30 ${number}` },
      email: `buyer.${number}@example.org`,
      invoice_address: { name, ...place },
      positions: [
        {
          ...{ id: number, positionid: 1, item: 1, price: "99.00", secret: `over${secretOf(number)}` },
          ...{ attendee_name: name, attendee_email: `attendee.${number}@example.org`, ...place },
          answers: [{ question: 1, answer: `diet of ${number}`, question_identifier: "DIET" }],
        },
      ],
    },
    { event: "over" },
  );
}

const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };

async function post(baseUrl: string, path: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(`${baseUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 202) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/** Asks until a job has ended well; returns after how many seconds. */
async function untilEnded(baseUrl: string, address: string): Promise<number> {
  const started = performance.now();
  for (;;) {
    const answer = await fetch(`${baseUrl}${new URL(address).pathname}`, { headers });
    await answer.arrayBuffer();
    if (answer.status === 200) return (performance.now() - started) / 1000;
    if (answer.status !== 409) throw new Error(`${address} answered ${answer.status}`);
    await sleep(100);
  }
}

/** Seconds to write all orders and positions of the event once. */
async function updatePlainly(db: Db): Promise<number> {
  const started = performance.now();
  await db.run(sql`update "order" set data = "order".data || '{"bench": 1}' where "order".event = 'over'`);
  await db.run(sql`update position set state = position.state || '' where position.event = 'over'`);
  return (performance.now() - started) / 1000;
}
