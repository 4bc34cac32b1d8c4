import { join } from "node:path";
import { services } from "@tessera/cli/services";
import { callAsShop } from "@tessera/cli/vouchers/call-as-shop";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import getPort from "get-port";
import { startServing } from "../serving-process.ts";
import { operatorKey } from "./on-empty-platform.ts";

/** What is promised. */
const limit = { codesPerSecond: 10_000 } as const;

const batchSize = 1000;

/** A few of the vouchers are used up. */
const fewestOffers = 0.9 * batchSize;

/** Callers at a time. */
const atOnce = 2;

/** The length of a measurement, and how often each is made. */
const seconds = 1;
const rounds = 5;

/** In one process with all services, each has the next port. */
const portOfVoucher = Object.keys(services).indexOf("voucher");

/** How fast shops check codes. */
export interface Checks {
  readonly rows: readonly (readonly [name: string, figure: string])[];
  readonly isSlow: boolean;
}

/**
 * Checks random codes `FILLED-1` to `FILLED-<vouchers>` as a shop does, over sockets, in a platform on this database. The
 * ratio compares with bare lookups of the same codes by their index.
 */
export async function measureChecks(
  db: Db,
  { databaseUrl, directory, vouchers }: { databaseUrl: string; directory: string; vouchers: number },
): Promise<Checks> {
  const [port, grpcPort] = [await getPort({ host: "127.0.0.1" }), await findPorts()];
  const platform = await startServing(
    [
      "all",
      "--port",
      String(port),
      "--data",
      join(directory, "shops"),
      "--database-url",
      databaseUrl,
      "--transport",
      "grpc",
    ],
    {
      url: `http://127.0.0.1:${port}/api/v1/openapi.json`,
      environment: { GRPC_PORT: String(grpcPort), TESSERA_OPERATOR_KEY: operatorKey },
    },
  );
  try {
    const address = `127.0.0.1:${grpcPort + portOfVoucher}`;
    const drawCodes = () =>
      Array.from({ length: batchSize }, () => `FILLED-${1 + Math.floor(Math.random() * vouchers)}`);
    const place = { organizer: "bench", event: "festival" };
    const lookUp = () =>
      db.many(sql`
        select voucher.id, voucher.code
          from voucher
         where voucher.organizer = ${place.organizer}
           and voucher.event = ${place.event}
           and voucher.code = any(${drawCodes()}::text[])`);
    const { alone, bare, together } = await callAsShop({ address, environment: {} }, async (shop) => {
      const check = async () => {
        const { answers } = await shop.checkVouchers({
          ...place,
          asks: drawCodes().map((code) => ({ code, item: 1 })),
        });
        const offers = answers.filter(({ outcome }) => outcome?.$case === "offer").length;
        if (offers < fewestOffers) throw new Error(`${batchSize - offers} of ${batchSize} codes were refused`);
      };
      for (const work of [check, lookUp]) await repeat(work, { callers: 1 });
      // In turns: what else the machine does hits both.
      const [checks, lookUps]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        checks.push(await repeat(check, { callers: 1 }));
        lookUps.push(await repeat(lookUp, { callers: 1 }));
      }
      return { alone: median(checks), bare: median(lookUps), together: await repeat(check, { callers: atOnce }) };
    });
    const rows = [
      [
        `checks by shops, ${batchSize} codes a call`,
        `${alone.toFixed(0)} codes a second by one caller, ${together.toFixed(0)} by ${atOnce} (limit ${limit.codesPerSecond})`,
      ],
      [
        "bare lookups of as many codes",
        `${bare.toFixed(0)} codes a second, ratio to that ${(bare / alone).toFixed(1)}`,
      ],
    ] as const;
    return { rows, isSlow: alone < limit.codesPerSecond };
  } finally {
    await platform.stop();
  }
}

/** Finds the first of as many free ports as there are services. */
async function findPorts(): Promise<number> {
  for (;;) {
    const first = await getPort({ host: "127.0.0.1" });
    const next = Array.from({ length: portOfVoucher }, (_, index) => first + 1 + index);
    const found = await Promise.all(next.map((port) => getPort({ host: "127.0.0.1", port })));
    if (found.every((port, index) => port === next[index])) return first;
  }
}

/** Does work again and again; returns codes a second. */
async function repeat(work: () => Promise<unknown>, { callers }: { callers: number }): Promise<number> {
  const started = performance.now();
  let batches = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (; performance.now() - started < 1000 * seconds; batches += 1) await work();
    }),
  );
  return (1000 * batches * batchSize) / (performance.now() - started);
}

function median(figures: readonly number[]): number {
  return [...figures].sort((one, other) => one - other)[Math.floor(figures.length / 2)] ?? 0;
}
