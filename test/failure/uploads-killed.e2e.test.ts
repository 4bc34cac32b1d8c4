import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { afterEach, expect, it } from "vitest";
import { listData, orderData, positionData, samplesOf } from "../e2e/sample-records.ts";
import { openAsAdministrator } from "./fact-ledger.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { createPlatform, findLoggedErrors } from "./platform-process.ts";
import { report, withDice } from "./seeded.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("uploads");
const boxes = [0, 1, 2, 3];
const ticketsOfBox = 125;
const scansPerBatch = 50;
/** Each ticket comes and goes twice: in any other order a scan is refused. */
const visits = ["entry", "exit", "entry", "exit"] as const;
const kills = 4;

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface Scan {
  readonly secret: string;
  readonly type: string;
  readonly nonce: string;
  readonly datetime: string;
}

/** What a box has scanned, in order. */
const scansOf = (box: number): Scan[] =>
  visits.flatMap((type, visit) =>
    Array.from({ length: ticketsOfBox }, (_, index) => ({
      secret: `upload-${box * ticketsOfBox + index + 1}`,
      ...{ type, nonce: `${box}-${visit}-${index}` },
      datetime: new Date(Date.UTC(2026, 5, 1, 10 + visit, 0, index)).toISOString(),
    })),
  );

interface Result {
  readonly status: number;
}

/** The results of the first scans; none: there was no answer, and nobody knows what was stored. */
async function sendBatch(baseUrl: string, scans: readonly Scan[]): Promise<readonly Result[]> {
  try {
    const answer = await fetch(`${baseUrl}${eventPath.split("/events/")[0]}/checkinrpc/redeem_batch/?fields=status`, {
      method: "POST",
      headers: { authorization: `Token ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ lists: [1], scans }),
    });
    const { results } = (await answer.json()) as { results?: Result[] };
    return results ?? [];
  } catch {
    return [];
  }
}

it("[F2.8] batches that are cut off by kill -9 are sent again, and each of their scans is stored once and in order", () =>
  withDice(async (dice) => {
    const database = await createEmptyDatabase();
    undo.push(() => database.drop());
    const platform = await createPlatform({ databaseUrl: database.url });
    undo.push(() => platform.remove());
    const db = openAsAdministrator(database.url);
    undo.push(() => db.close());
    let life = platform.start();
    await life.ready;
    const { baseUrl } = platform;
    const orders = Array.from({ length: boxes.length * ticketsOfBox }, (_, index) =>
      ofEvent(
        "order",
        orderData({
          code: `UP${index + 1}`,
          positions: [positionData({ id: index + 1, secret: `upload-${index + 1}` })],
        }),
      ),
    );
    const records = [...groundwork(), ofEvent("checkin_list", listData({ allow_entry_after_exit: true })), ...orders];
    await importUntilAnswered({ baseUrl, body: records.map((record) => JSON.stringify(record)).join("\n") });

    let [lost, again, decided] = [0, 0, 0];
    const refused: Result[] = [];
    const upload = async (box: number) => {
      for (let open = scansOf(box); open.length > 0; ) {
        const batch = open.slice(0, scansPerBatch);
        const results = await sendBatch(baseUrl, batch);
        if (results.length === 0) {
          lost += 1;
          await sleep(50);
        }
        const isOpen = (index: number) => [undefined, 429, 503].includes(results[index]?.status);
        const left = batch.filter((_, index) => isOpen(index));
        again += left.length;
        decided += batch.length - left.length;
        refused.push(...results.filter(({ status }) => ![201, 429, 503].includes(status)));
        open = [...left, ...open.slice(scansPerBatch)];
      }
    };
    const uploaded = Promise.all(boxes.map(upload));
    for (let killed = 0; killed < kills; killed += 1) {
      // While a fifth of the scans is decided.
      const until = decided + 400;
      while (decided < Math.min(until - dice.below(300), 1900)) await sleep(2);
      await life.kill();
      life = platform.start();
      await life.ready;
    }
    await uploaded;

    report({ lost, again });
    expect(refused).toEqual([]);
    const stored = await db.many<{ position: number; types: string[]; nonces: number }>(sql`
      select scan.position, array_agg(scan.type order by scan.id) as types, count(distinct scan.nonce) as nonces
        from checkin.scan
       where scan.successful
       group by scan.position`);
    expect(stored).toHaveLength(boxes.length * ticketsOfBox);
    for (const { types, nonces } of stored) expect([types, nonces]).toEqual([[...visits], visits.length]);
    const status = await fetch(`${baseUrl}${eventPath}/checkinlists/1/status/`, {
      headers: { authorization: `Token ${apiKey}` },
    });
    expect(await status.json()).toMatchObject({ checkin_count: stored.length, inside_count: 0 });
    expect(await findLoggedErrors(platform)).toEqual([]);
    // Otherwise the test proves nothing.
    expect(lost).toBeGreaterThan(kills);
  }));
