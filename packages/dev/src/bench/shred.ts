import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import { type Progress, showProgress } from "@tessera/cli/progress";
import { quantile } from "@tessera/cli/quantile";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { onCluster, oneOfEach, smallHeap } from "./on-cluster.ts";
import { apiKey, groundwork, onEmptyPlatform, recordOf, sendRecords } from "./on-empty-platform.ts";
import { scannedTickets, scanUntil, secretOf } from "./scan-beside.ts";
import { usageOf } from "./usage.ts";

const event = "/api/v1/organizers/bench/events/over";
const kinds = ["attendee_info", "order_emails", "phone_numbers", "invoice_addresses", "question_answers"];

/** What is promised of an event with a hundred thousand orders, and of the gates of other events meanwhile. */
const limit = { orders: 100_000, seconds: 30, slower: 1.5, megabytes: 256 } as const;

const ordersAtATime = 10_000;
/** What an import leaves to do is over by then; the slowest of a hundred scans needs some hundreds of them. */
const restMs = 5000;
const quietMs = 15_000;

/**
 * Exports and erases the personal data of an event with so many orders, beside scans at the gates of another one: with
 * everything in one process, and with a process for each service on Kafka. The ratio compares the erasure with an update that
 * writes the same rows once.
 */
export async function benchShred({ orders }: { readonly orders: number }): Promise<void> {
  const progress = showProgress();
  const seconds = (limit.seconds * orders) / limit.orders;
  const rows = [["", "measured", "promised"]];
  const describe = (name: string, { exportedIn, erasedIn, quiet, besideExport, besideErasure }: Measured) => {
    const [alone, ofExport, ofErasure] = [quiet, besideExport, besideErasure].map((took) => quantile(took, 0.99));
    if (exportedIn > seconds || erasedIn > seconds) process.exitCode = 1;
    rows.push(
      [`${name}: export of ${orders} orders`, `${exportedIn.toFixed(1)} s`, `${seconds.toFixed(1)} s`],
      ["  erased everywhere", `${erasedIn.toFixed(1)} s`, `${seconds.toFixed(1)} s`],
      [
        "  scans of another event, p99: alone, beside the export, beside the erasure",
        `${alone?.toFixed(0)}, ${ofExport?.toFixed(0)}, ${ofErasure?.toFixed(0)} ms`,
        `${limit.slower}×`,
      ],
    );
  };
  await onEmptyPlatform(async ({ baseUrl, serving, open }) => {
    const measured = await exportAndErase({ baseUrl, orders, progress });
    describe("in one process", measured);
    const { peakMegabytes } = await usageOf(serving.pid);
    progress.update("updating the same rows…");
    const plain = await updatePlainly(open("boxoffice"));
    rows.push(
      [
        "  of a plain update of orders and positions",
        `${plain.toFixed(1)} s: ${(measured.erasedIn / plain).toFixed(1)}×`,
        "",
      ],
      ["  peak memory, with all services", `${peakMegabytes.toFixed(0)} MiB`, ""],
    );
  });
  await onCluster({ replicas: oneOfEach, nodeOptions: smallHeap }, async ({ baseUrl, processes }) => {
    describe("over gRPC", await exportAndErase({ baseUrl, orders, progress }));
    const memory = await Promise.all(
      processes.map(async ({ plan, pid }) => ({ name: plan.service, ...(await usageOf(pid() ?? 0)) })),
    );
    const listed = memory.map(({ name, peakMegabytes }) => `${name} ${peakMegabytes.toFixed(0)}`).join(", ");
    rows.push(["  peak memory", `${listed} MiB`, `${limit.megabytes} MiB each`]);
  });
  progress.done();
  process.stdout.write(`${columns(rows)}\n`);
}

interface Measured {
  readonly exportedIn: number;
  readonly erasedIn: number;
  /** How long scans of another event took, in milliseconds. */
  readonly quiet: readonly number[];
  readonly besideExport: readonly number[];
  readonly besideErasure: readonly number[];
}

async function exportAndErase({
  baseUrl,
  orders,
  progress,
}: {
  readonly baseUrl: string;
  readonly orders: number;
  readonly progress: Progress;
}): Promise<Measured> {
  await sendRecords(baseUrl, [...groundwork, ...scannedTickets(), ...ground()]);
  for (let from = 0; from < orders; from += ordersAtATime) {
    progress.update(`importing… ${from} of ${orders}`);
    await sendRecords(
      baseUrl,
      Array.from({ length: Math.min(ordersAtATime, orders - from) }, (_, index) => orderOf(from + index + 1)),
    );
  }
  progress.update("scanning alone…");
  await sleep(restMs);
  const quiet = await scanUntil(baseUrl, { first: 1, until: sleep(quietMs) });
  progress.update("exporting…");
  const started = await post(baseUrl, `${event}/shredders/export/`, { shredders: kinds });
  const exporting = untilEnded(baseUrl, started["download"] ?? "");
  const besideExport = await scanUntil(baseUrl, { first: 500, until: exporting });
  const exportedIn = await exporting;
  progress.update("erasing…");
  const shred = await post(baseUrl, new URL(started["shred"] ?? "").pathname, {});
  const erasing = untilEnded(baseUrl, shred["status"] ?? "");
  const besideErasure = await scanUntil(baseUrl, { first: 1000, until: erasing });
  return { exportedIn, erasedIn: await erasing, quiet, besideExport, besideErasure };
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
