import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { mortalDatabase, startLife } from "@tessera/testkit/mortal-database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { exchangeScan, prepareExchanges, startCheckinAndBoxoffice } from "./checkin-and-boxoffice.ts";
import { report } from "./seeded.ts";
import { sendRecords } from "./send-records.ts";

let parts: Awaited<ReturnType<typeof startParts>>;
let lists: number[];

beforeAll(async () => {
  parts = await startParts();
});
afterAll(() => parts?.drop());
beforeEach(async () => {
  await Promise.all([emptyTables(parts.dbs.boxoffice), emptyTables(parts.dbs.checkin)]);
});

/** Checkin and boxoffice, each with a life of its own. */
async function startParts() {
  const lives = { boxoffice: startLife(), checkin: startLife() };
  const both = await startCheckinAndBoxoffice({
    dbOf: (owner, db) => mortalDatabase(db, lives[owner]),
    // A process may die while a call is under way: before it leaves, and before its answer arrives.
    mediaOf: (media) => ({
      async linkMedium(request) {
        lives.checkin.step();
        lives.boxoffice.step();
        const answer = await media.linkMedium(request);
        lives.boxoffice.step();
        lives.checkin.step();
        return answer;
      },
    }),
  });
  return { ...both, lives };
}

/** What a scanner is told. */
async function send(scan: Scan): Promise<string> {
  const { outcome } = await parts.scans.redeemOnLists({ scan, lists });
  // Its answer may be lost behind its commit.
  parts.lives.checkin.step();
  return wordOf(outcome);
}

function wordOf(outcome: ScanOutcome | undefined): string {
  const said = outcome?.outcome;
  return said?.$case === "refused" ? said.value.reason : (said?.$case ?? "nothing");
}

/** The tickets of each medium. */
const findLinks = async (db: Db) => {
  const rows = await db.many<{ identifier: string; links: { id: number }[] }>(sql`
    select identifier, data -> 'linked_orderpositions' as links from reusable_medium order by id`);
  return rows.map(({ identifier, links }) => [identifier, links.map(({ id }) => id)]);
};

const findAdmitted = async (db: Db) => {
  const rows = await db.many<{ position: number; nonce: string }>(
    sql`select position, nonce from scan where scan.successful order by scan.id`,
  );
  return rows.map(({ position, nonce }) => [position, nonce]);
};

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const indexesOf = (word: string, words: readonly string[]) =>
  words.flatMap((each, index) => (each === word ? [index] : []));

describe("[E8.3, E8.5] of many media that come at once for one ticket", () => {
  it("the one that is linked is admitted, where a medium is enforced", async () => {
    lists = await prepareExchanges(parts, { tickets: 1, policy: "new", isEnforced: true });
    const words = await Promise.all(numbers(10).map((index) => send(exchangeScan(1, `TAG${index}`, `n${index}`))));
    const [winner = -1, ...others] = indexesOf("admitted", words);
    expect([winner, others]).toEqual([expect.any(Number), []]);
    expect(await findLinks(parts.dbs.boxoffice)).toEqual([[`TAG${winner + 1}`, [1]]]);
    expect(await findAdmitted(parts.dbs.checkin)).toEqual([[1, `n${winner + 1}`]]);
    expect([...indexesOf("already_exchanged", words), ...indexesOf("already_redeemed", words)]).toHaveLength(9);
  });

  it("one is linked, and the ticket is admitted once, where it is not", async () => {
    lists = await prepareExchanges(parts, { tickets: 1, policy: "new", isEnforced: false });
    const words = await Promise.all(numbers(10).map((index) => send(exchangeScan(1, `TAG${index}`, `n${index}`))));
    expect(words.toSorted()).toEqual(["admitted", ...numbers(9).map(() => "already_redeemed")]);
    expect(await findLinks(parts.dbs.boxoffice)).toEqual([[expect.any(String), [1]]]);
    expect(await findAdmitted(parts.dbs.checkin)).toHaveLength(1);
  });
});

describe("[E8.4] one medium that comes at once with many tickets", () => {
  const sendAll = () => Promise.all(numbers(6).map((ticket) => send(exchangeScan(ticket, "TAG", `n${ticket}`))));

  it("is made for one of them, which is admitted", async () => {
    lists = await prepareExchanges(parts, { tickets: 6, policy: "new", isEnforced: true });
    const words = await sendAll();
    expect(words.toSorted()).toEqual(["admitted", ...numbers(5).map(() => "medium_exists")]);
    const winner = words.indexOf("admitted") + 1;
    expect(await findLinks(parts.dbs.boxoffice)).toEqual([["TAG", [winner]]]);
    expect(await findAdmitted(parts.dbs.checkin)).toEqual([[winner, `n${winner}`]]);
  });

  it("is handed out to one of them, also where it may be reused", async () => {
    lists = await prepareExchanges(parts, { tickets: 6, policy: "reuse_or_new", isEnforced: true });
    const words = await sendAll();
    expect(words.toSorted()).toEqual(["admitted", ...numbers(5).map(() => "medium_exists")]);
    expect(await findLinks(parts.dbs.boxoffice)).toEqual([["TAG", [words.indexOf("admitted") + 1]]]);
  });
});

it.each(["new", "reuse", "reuse_or_new"])(
  "[E8.8] with the policy %s a scan is simulated as it is decided",
  async (policy) => {
    lists = await prepareExchanges(parts, { tickets: 10, policy, isEnforced: true });
    const medium = { kind: "reusable_medium", event: "" };
    await sendRecords(
      parts.records,
      { ...medium, data: { id: 1, type: "nfc_uid", identifier: "FREE" } },
      { ...medium, data: { id: 2, type: "nfc_uid", identifier: "OFF", active: false } },
      { ...medium, data: { id: 3, type: "nfc_uid", identifier: "OLD", expires: "2020-01-01T00:00:00Z" } },
      {
        ...medium,
        data: { id: 4, type: "nfc_uid", identifier: "TAKEN", linked_orderpositions: [{ id: 10, event: "second" }] },
      },
      {
        ...medium,
        data: { id: 5, type: "nfc_uid", identifier: "OWN", linked_orderpositions: [{ id: 9, event: "second" }] },
      },
    );
    await parts.passFacts();
    const sent = [
      ...["FREE", "OFF", "OLD", "TAKEN", "NEW", "secret-1", "secret-7"].map((code, at) =>
        exchangeScan(at + 1, code, `n${at}`),
      ),
      { ...exchangeScan(8, "NEW", "type"), exchangeMedium: { type: "barcode", identifier: "ANOTHER" } },
      exchangeScan(9, "OWN", "own"),
      exchangeScan(9, "ANOTHER", "second"),
    ];
    const told: (readonly [string | undefined, string, string])[] = [];
    for (const scan of sent) {
      const foreseen = wordOf((await parts.scans.simulateScan({ scan, lists })).outcome);
      const before = await findLinks(parts.dbs.boxoffice);
      told.push([scan.exchangeMedium?.identifier, foreseen, await send(scan)]);
      if (foreseen !== "admitted") expect(await findLinks(parts.dbs.boxoffice)).toEqual(before);
      await parts.passFacts();
    }
    expect(told.map(([code, foreseen]) => [code, foreseen])).toEqual(told.map(([code, , decided]) => [code, decided]));
    expect(new Set(told.map(([, word]) => word)).size).toBeGreaterThan(2);
  },
);

it.each([
  ["checkin", "facts arrive at once", true],
  ["checkin", "facts arrive late", false],
  ["boxoffice", "facts arrive at once", true],
  ["boxoffice", "facts arrive late", false],
] as const)(
  "[E8.5] whichever step %s is killed at, the scan that is sent again is admitted once and linked once: %s",
  { timeout: 120_000 },
  async (victim, _how, isPassedAtOnce) => {
    const tickets = 40;
    lists = await prepareExchanges(parts, { tickets, policy: "new", isEnforced: true });
    const life = parts.lives[victim];
    const answers: string[][] = [];
    const pass = () => parts.lives.checkin.spare(() => parts.passFacts());
    for (let endsAt = 1; ; endsAt += 1) {
      expect(endsAt).toBeLessThan(tickets);
      const scan = exchangeScan(endsAt, `TAG${endsAt}`, `nonce ${endsAt}`);
      life.begin({ endsAt });
      // What a dead process answers is not heard.
      await send(scan).catch(() => {});
      const hasDied = life.isOver();
      life.begin();
      if (isPassedAtOnce) await pass();
      answers.push([await send(scan), await send(scan)]);
      if (!hasDied) break;
    }
    report({ victim, isPassedAtOnce, deaths: answers.length - 1 });
    expect(answers).toEqual(answers.map(() => ["admitted", "admitted"]));
    expect(answers.length).toBeGreaterThan(victim === "checkin" ? 5 : 15);
    const used = numbers(answers.length);
    expect(await findLinks(parts.dbs.boxoffice)).toEqual(used.map((id) => [`TAG${id}`, [id]]));
    expect(await findAdmitted(parts.dbs.checkin)).toEqual(used.map((id) => [id, `nonce ${id}`]));
    await pass();
    expect(await send(exchangeScan(1, "TAG1", "another"))).toBe("already_redeemed");
  },
);
