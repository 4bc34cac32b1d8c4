import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import type { ImportAnswer } from "@tessera/cli/import-answer";
import type { EmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { openServer } from "@tessera/testkit/database-server";
import { apiKey, groundwork, onEmptyPlatform, operatorKey, recordOf } from "./on-empty-platform.ts";
import { usageOf, usageOfPostgres } from "./usage.ts";

const event = "/api/v1/organizers/bench/events/festival";

/** What is promised. */
const limit = { seconds: 60, megabytes: 512 } as const;

/**
 * Imports one-position orders over REST into an empty platform. The clock stops when the list counts them all and the last
 * ticket can be redeemed. The ratio compares this with a plain COPY of the same rows.
 */
export function benchImport({ orders }: { orders: number }): Promise<void> {
  return onEmptyPlatform(async ({ baseUrl, postgres, serving, progress }) => {
    const memory = watchPostgres(postgres.dataDirectory);
    try {
      const started = performance.now();
      const answer = await sendOrders(baseUrl, orders, (sent) => progress.update(`importing… ${sent} of ${orders}`));
      const answered = (performance.now() - started) / 1000;
      await untilCounted(baseUrl, orders);
      const redeemed = await redeemLast(baseUrl, orders);
      const seconds = (performance.now() - started) / 1000;
      const peaks = { node: (await usageOf(serving.pid)).peakMegabytes, postgres: memory.stop() };
      progress.update("copying the same rows…");
      const copy = await copySameRows(postgres);
      progress.done();
      print({ orders, answer, answered, seconds, redeemed, copy, peaks });
      if (
        redeemed !== 201 ||
        answer.rejected !== 0 ||
        seconds > limit.seconds ||
        Math.max(peaks.node, peaks.postgres) > limit.megabytes
      )
        process.exitCode = 1;
    } finally {
      memory.stop();
    }
  });
}

async function sendOrders(baseUrl: string, orders: number, onSent: (sent: number) => void): Promise<ImportAnswer> {
  const response = await fetch(`${baseUrl}/api/v1/import/`, {
    method: "POST",
    headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
    body: ReadableStream.from(records(orders, onSent)),
    duplex: "half",
  });
  const body = (await response.json()) as ImportAnswer;
  if (response.status !== 200) throw new Error(`the import answered ${response.status}: ${JSON.stringify(body)}`);
  return body;
}

async function* records(orders: number, onSent: (sent: number) => void): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const list = recordOf("checkin_list", { id: 1, name: "All", all_products: true, limit_products: [] });
  yield encoder.encode([...groundwork, list, ""].join("\n"));
  const perChunk = 200;
  for (let first = 1; first <= orders; first += perChunk) {
    let chunk = "";
    for (let order = first; order < first + perChunk && order <= orders; order += 1)
      chunk += `${recordOf("order", orderData(order))}\n`;
    yield encoder.encode(chunk);
    onSent(Math.min(first + perChunk - 1, orders));
  }
}

function orderData(order: number): Record<string, unknown> {
  const name = `Attendee Number ${order}`;
  return {
    code: `B${order.toString(36).toUpperCase().padStart(6, "0")}`,
    status: "p",
    email: `attendee.${order}@example.org`,
    locale: "en",
    sales_channel: "web",
    datetime: "2027-01-01T12:00:00.000Z",
    total: "99.00",
    positions: [
      {
        id: order,
        positionid: 1,
        item: 1,
        variation: null,
        price: "99.00",
        attendee_name: name,
        attendee_name_parts: { full_name: name },
        attendee_email: null,
        secret: secretOf(order),
        pseudonymization_id: `P${order}`,
        tax_rate: "19.00",
        tax_value: "15.81",
        addon_to: null,
        subevent: null,
      },
    ],
  };
}

function secretOf(order: number): string {
  return `bench${String(order).padStart(27, "0")}`;
}

async function untilCounted(baseUrl: string, orders: number): Promise<void> {
  for (let waited = 0; waited < 1200; waited += 1) {
    const status = await fetch(`${baseUrl}${event}/checkinlists/1/status/`, {
      headers: { authorization: `Token ${apiKey}` },
    });
    const body = (await status.json()) as { position_count?: number };
    if (body.position_count === orders) return;
    await sleep(100);
  }
  throw new Error("the list did not count every order within two minutes");
}

async function redeemLast(baseUrl: string, orders: number): Promise<number> {
  const answer = await fetch(`${baseUrl}${event}/checkinlists/1/positions/${secretOf(orders)}/redeem/`, {
    method: "POST",
    headers: { authorization: `Token ${apiKey}` },
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** The tables that hold the orders in the end. */
const filled = ['boxoffice."order"', "boxoffice.position", "checkin.position"];

async function copySameRows(postgres: EmbeddedPostgres): Promise<{ seconds: number; rows: number }> {
  const server = openServer(postgres.url);
  try {
    let seconds = 0;
    let rows = 0;
    for (const [index, table] of filled.entries()) {
      const copied = await server.copyTable(table, {
        file: join(postgres.dataDirectory, "data", `bench-copy-${index}`),
        target: `bench_copy_${index}`,
      });
      seconds += copied.seconds;
      rows += copied.rows;
    }
    return { seconds, rows };
  } finally {
    await server.close();
  }
}

/** Samples the memory of PostgreSQL processes; `stop` returns the peak in MiB. */
function watchPostgres(dataDirectory: string): { stop(): number } {
  let peak = 0;
  const sample = async () => {
    peak = Math.max(peak, (await usageOfPostgres(dataDirectory)).peakMegabytes);
  };
  const timer = setInterval(() => void sample(), 500);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

function print(result: {
  orders: number;
  answer: ImportAnswer;
  answered: number;
  seconds: number;
  redeemed: number;
  copy: { seconds: number; rows: number };
  peaks: { node: number; postgres: number };
}): void {
  const { orders, answer, seconds, copy, peaks } = result;
  const rows = [
    ["orders", String(orders)],
    ["accepted, rejected, settled", `${answer.accepted}, ${answer.rejected}, ${answer.settled}`],
    ["answer after", `${result.answered.toFixed(1)} s`],
    ["counted and last ticket redeemed after", `${seconds.toFixed(1)} s (limit ${limit.seconds} s)`],
    ["orders per second", (orders / seconds).toFixed(0)],
    ["last ticket's answer", String(result.redeemed)],
    [`plain COPY of the same ${copy.rows} rows`, `${copy.seconds.toFixed(2)} s`],
    ["ratio to COPY", (seconds / copy.seconds).toFixed(1)],
    ["peak memory, platform process", `${peaks.node.toFixed(0)} MiB (limit ${limit.megabytes})`],
    [
      "peak memory, largest PostgreSQL process",
      `${peaks.postgres.toFixed(0)} MiB, shared buffers included (limit ${limit.megabytes})`,
    ],
  ];
  process.stdout.write(`${columns(rows)}\n`);
}
