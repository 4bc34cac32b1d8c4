import { sql } from "@tessera/kit/pg/sql";
import type { Double } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { mortalDatabase, startLife } from "@tessera/testkit/mortal-database";
import { plainList } from "@tessera/testkit/plain-fields";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startCheckinAndBoxoffice } from "./checkin-and-boxoffice.ts";
import { type IslandScan, islandOf, planIslands, queuesOf } from "./islands.ts";
import { report, withDice } from "./seeded.ts";
import { place, sendRecords } from "./send-records.ts";

/** 20 are the rate of the acceptance; the kinds of scans are the same at any. */
const perSecond = Number(process.env["ISLAND_SCANS_PER_SECOND"] ?? 1);
const hour = 3600;

const life = startLife();
let parts: Awaited<ReturnType<typeof startCheckinAndBoxoffice>>;
let list: number;

beforeAll(async () => {
  parts = await startCheckinAndBoxoffice({
    dbOf: (owner, db) => (owner === "checkin" ? mortalDatabase(db, life) : db),
  });
});
afterAll(() => parts?.drop());

const secretOf = (ticket: number) => `secret-${ticket}`;

const scanOf = (ticket: number, changes: Partial<Scan>): Scan => ({
  ...{ ...place, list, lookup: secretOf(ticket), untrustedInput: true, type: "SCAN_TYPE_ENTRY", force: true },
  ...{ ignoreUnpaid: false, canceledSupported: true, questionsSupported: true, answers: [], sourceType: "barcode" },
  useOrderLocale: false,
  ...changes,
});

const toUpload = ({ ticket, type, device, at, nonce }: IslandScan): Scan =>
  scanOf(ticket, {
    type: type === "exit" ? "SCAN_TYPE_EXIT" : "SCAN_TYPE_ENTRY",
    deviceId: device,
    gate: device,
    at,
    nonce,
  });

/** What a scanner is told. */
async function send(scan: Scan): Promise<string> {
  const { outcome } = await parts.scans.redeem({ scan });
  life.step();
  const said = outcome?.outcome;
  return said?.$case === "refused" ? said.value.reason : (said?.$case ?? "nothing");
}

const orderOf = (ticket: number, status: "p" | "c") => ({
  kind: "order",
  data: {
    ...{ code: `ORDER${ticket}`, status, datetime: "2026-01-01T10:00:00Z" },
    positions: [{ id: ticket, positionid: 1, item: 1, secret: secretOf(ticket) }],
  },
});

async function sell(tickets: readonly number[], status: "p" | "c"): Promise<void> {
  for (let from = 0; from < tickets.length; from += 500)
    await sendRecords(parts.records, ...tickets.slice(from, from + 500).map((ticket) => orderOf(ticket, status)));
}

/** The whole ledger, part by part. */
async function readLedger(): Promise<Double[]> {
  const found: Double[] = [];
  for (let after: { position: number; list: number } | undefined; ; ) {
    const { doubles, next } = await parts.doubles.nextDoubles({ ...place, filter: {}, after });
    found.push(...doubles);
    if (next === undefined) return found;
    after = next;
  }
}

it(
  "[F3.15] after an hour of two islands without a network the ledger has each double and no other, though checkin is killed while they upload",
  {
    timeout: 1_200_000,
  },
  () =>
    withDice(async (dice) => {
      const from = Date.now() * 1000 - 2 * hour * 1_000_000;
      const day = planIslands(dice, { from, seconds: hour, perSecond });
      const tickets = [...new Set(day.scans.map(({ ticket }) => ticket))];
      await sendRecords(
        parts.records,
        { kind: "organizer", data: { slug: place.organizer, name: "Big Events" } },
        { kind: "event", data: { slug: place.event, name: { en: "Night" }, date_from: "2027-12-27T10:00:00Z" } },
        { kind: "item", data: { id: 1, name: { en: "Pass" } } },
      );
      await sell(
        tickets.filter((ticket) => !day.canceled.has(ticket)),
        "p",
      );
      await sell([...day.canceled], "c");
      await parts.passFacts();
      list = (await parts.lists.createCheckinList({ ...place, fields: plainList })).list?.id ?? 0;
      expect([day.validRefused, day.copiesRefused > 20, day.expected.length > 100]).toEqual([0, true, true]);

      let deaths = 0;
      const begin = () => life.begin({ endsAt: 30 + dice.below(300) });
      begin();
      const upload = async (queue: readonly IslandScan[]) => {
        const words = new Map<string, number>();
        for (const scan of queue) {
          for (let word = ""; word !== "admitted"; ) {
            // What a dead process answers is not heard; the scanner sends the scan again.
            word = await send(toUpload(scan)).catch(() => "nothing");
            words.set(word, (words.get(word) ?? 0) + 1);
            if (word !== "admitted" && life.isOver()) {
              deaths += 1;
              begin();
            }
            expect(["admitted", "undecided", "nothing"]).toContain(word);
          }
        }
        return words;
      };
      const begun = performance.now();
      await Promise.all(queuesOf(day, dice).map(upload));
      const uploadedMs = Math.round(performance.now() - begun);
      life.begin();

      // The network is back: a copy is refused, and what a person overrules is no double.
      const [guest = 0, ...others] = day.inside;
      const online = (ticket: number, changes: Partial<Scan>) =>
        send(
          scanOf(ticket, {
            deviceId: 18,
            at: Date.now() * 1000,
            nonce: `online ${ticket} ${changes.force}`,
            ...changes,
          }),
        );
      for (const ticket of others.slice(0, 20)) expect(await online(ticket, { force: false })).toBe("already_redeemed");
      expect(await online(guest, { force: true })).toBe("admitted");

      const rows = await parts.dbs.checkin.many<{ nonce: string }>(sql`select nonce from scan where successful`);
      expect(rows.map(({ nonce }) => nonce).sort()).toEqual(
        [...day.scans.map(({ nonce }) => nonce), `online ${guest} true`].sort(),
      );
      const ledger = await readLedger();
      const nonces = new Map(
        (await parts.dbs.checkin.many<{ id: number; nonce: string }>(sql`select id, nonce from scan`)).map((row) => [
          row.id,
          row.nonce,
        ]),
      );
      const nonceOf = (scan: Double["scan"]) => nonces.get(scan?.checkin?.id ?? 0) ?? null;
      const found = ledger.flatMap(({ position, scan, earlier, reasons }) =>
        reasons.map((reason) => ({ ticket: position, scan: nonceOf(scan) ?? "", earlier: nonceOf(earlier), reason })),
      );
      const within = ledger.filter(
        ({ scan, earlier }) =>
          earlier !== undefined && islandOf(scan?.checkin?.deviceId ?? 0) === islandOf(earlier.checkin?.deviceId ?? 0),
      );
      report({
        ...{
          perSecond,
          scans: day.scans.length,
          tickets: tickets.length,
          copiesRefused: day.copiesRefused,
          deaths,
          uploadedMs,
        },
        ...{ expected: day.expected.length, found: found.length, withinAnIsland: within.length },
      });
      const inOrder = <T extends { readonly scan: string }>(doubles: readonly T[]) =>
        doubles.toSorted((one, other) => (one.scan < other.scan ? -1 : 1));
      expect(inOrder(found)).toEqual(inOrder(day.expected));
      expect(within).toEqual([]);
      expect(deaths).toBeGreaterThan(10);
    }),
);
