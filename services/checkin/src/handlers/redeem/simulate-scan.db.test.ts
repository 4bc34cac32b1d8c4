import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { rollFrom } from "@tessera/testkit/dice";
import { questionDocument } from "@tessera/testkit/question-document";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import {
  eventFact,
  itemFact,
  mediumFact,
  minute,
  noon,
  order,
  place,
  positionFact,
  questionFact,
} from "../../testing/facts.ts";
import { inWord, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const scans = checkin.connect(Scans);
let list: number;

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  list = (await checkin.createList()).id;
});

async function simulate(code: string, changes: Parameters<typeof scan>[2] & { list?: number; lists?: number[] } = {}) {
  const { lists = [], ...said } = changes;
  const sent = { ...scan(said.list ?? list, code, said), ...(lists.length > 0 ? { event: "", list: 0 } : {}) };
  const { outcome, explanation } = await scans.simulateScan({ scan: sent, lists });
  if (outcome === undefined) throw new Error("no outcome came back");
  const told = explanation.length === 0 ? undefined : (JSON.parse(Buffer.from(explanation).toString()) as Told);
  return { word: inWord(outcome), outcome, told };
}

interface Told {
  readonly steps: readonly { readonly step: string; readonly passed: boolean | null }[];
  readonly clauses: readonly unknown[];
  readonly admitted_at: string | null;
  readonly gates: readonly unknown[];
  readonly lists: readonly { readonly id: number }[];
}

/** All rows of the service. */
async function everything(): Promise<unknown> {
  const tables = await db.many<{ name: string }>({
    text: "select table_name as name from information_schema.tables where table_schema = current_schema() order by 1",
    values: [],
  });
  const rows = [];
  for (const { name } of tables) {
    const held = await db.many({ text: `select to_jsonb("${name}") as row from "${name}" order by 1`, values: [] });
    rows.push([name, held]);
  }
  return rows;
}

const lastId = async () => (await db.one<{ id: number }>(sql`select scan_id.last_value as id from scan_id`)).id;

describe("[E7.1] a simulated scan", () => {
  it("stores, publishes and counts nothing, whatever it comes to", async () => {
    const question = { items: [10], document: Buffer.from(questionDocument(5, { type: "S" })) };
    await checkin.deliver(topics.questionChanged, [questionFact(5, question)]);
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2, { item: 11 }),
      positionFact(3, { item: 11, blocked: ["admin"] }),
    ]);
    const [before, drawn] = [await everything(), await lastId()];
    const answers = [{ question: 5, value: '"blue"' }];
    const words = [
      await simulate("secret1"),
      await simulate("secret1", { answers, nonce: "n" }),
      await simulate("secret2"),
      await simulate("secret2", { type: ScanType.EXIT }),
      await simulate("secret3"),
      await simulate("secret3", { force: true }),
      await simulate("nothing"),
    ].map(({ word }) => word);
    expect(words).toEqual([
      ...["incomplete", "admitted", "admitted", "admitted", "blocked", "admitted", "unknownTicket"],
    ]);
    expect(await everything()).toEqual(before);
    expect(await lastId()).toBe(drawn);
    expect(inWord(await checkin.redeem(scan(list, "secret2", { nonce: "n" })))).toBe("admitted");
  });

  it("shows the ticket as it is, without a scan that was not made", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const { outcome } = await simulate("secret1");
    expect(outcome).toMatchObject({ list: { id: list, event: "sampleconf" }, position: { checkins: [] } });
  });

  it("finds media, and tickets that were sold a moment ago", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    await checkin.deliver(topics.reusableMediumChanged, [mediumFact(1, { type: "barcode", identifier: "BAND" })]);
    expect((await simulate("BAND")).word).toBe("admitted");
    checkin.sold = async () => [PositionChanged.encode(positionFact(7)).finish()];
    expect((await simulate("secret7")).word).toBe("admitted");
  });

  it("of a list that is unknown has no explanation; on several lists that of the list that decides", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    expect(await simulate("secret1", { list: 99 })).toMatchObject({ word: "unknownList", told: undefined });
    const other = { ...place, event: "other" };
    await checkin.deliver(topics.eventChanged, [{ ...eventFact(), ...other }]);
    const { list: second } = await checkin.lists.createCheckinList({
      ...other,
      fields: (await checkin.createList()).fields,
    });
    const both = await simulate("secret1", { lists: [second?.id ?? 0, list] });
    expect(both).toMatchObject({ word: "admitted", outcome: { list: { id: list, event: "sampleconf" } } });
    await expect(simulate("secret1", { lists: [list, 99] })).rejects.toMatchObject({ code: "unknown_lists" });
  });

  it("comes to what the scan itself comes to", async () => {
    const dice = rollFrom(42);
    const { pick, below } = dice;
    const lists = [list];
    const rules = { "<": [{ var: "entries_number" }, 2] };
    lists.push((await checkin.createList({ allowMultipleEntries: true, rules: JSON.stringify(rules) })).id);
    lists.push((await checkin.createList({ allProducts: false, limitProducts: [11], includePending: true })).id);
    const tickets = Array.from({ length: 40 }, (_, index) =>
      positionFact(index + 1, {
        item: pick([10, 11]),
        blocked: pick([[], [], [], ["admin"]]),
        validFrom: pick([undefined, undefined, noon + minute]),
        order: order({
          status: pick([OrderStatus.PAID, OrderStatus.PAID, OrderStatus.PENDING]),
          requireApproval: pick([false, true]),
        }),
      }),
    );
    await checkin.deliver(topics.positionChanged, tickets);
    const seen = new Set<string>();
    for (let round = 0; round < 300; round += 1) {
      const changes = {
        type: pick([ScanType.ENTRY, ScanType.ENTRY, ScanType.EXIT]),
        at: noon + below(4) * minute,
        force: below(10) === 0,
        ignoreUnpaid: below(2) === 0,
      };
      const [on, code] = [pick(lists), `secret${below(42)}`];
      const simulated = await simulate(code, { ...changes, list: on });
      const made = await checkin.redeem(scan(on, code, changes));
      expect(simulated.word).toBe(inWord(made));
      seen.add(simulated.word);
    }
    expect(seen.size).toBeGreaterThan(6);
  });
});

describe("[E7.4] an explanation", () => {
  it("names the lists and gates that would admit now, and the next time", async () => {
    const west = { lookup: ["gate", "7", "West"] };
    const rules = {
      and: [
        { inList: [{ var: "gate" }, { objectList: [west] }] },
        { isAfter: [{ var: "now" }, { buildTime: ["custom", "2026-11-21T11:00:00Z"] }] },
      ],
    };
    const ruled = (await checkin.createList({ rules: JSON.stringify(rules) })).id;
    const others = (await checkin.createList({ allProducts: false, limitProducts: [11] })).id;
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { validFrom: noon + minute })]);
    const { word, told } = await simulate("secret1", { list: ruled, gate: 3 });
    expect(word).toBe("rules");
    expect(told).toMatchObject({
      clauses: [
        { path: "and[0]", passed: false, value: 3, text: "Tickets like this one are not let in at this gate" },
        { path: "and[1]", passed: true, text: null },
      ],
      ...{ admitted_at: null, gates: [{ id: 7, name: "West" }], lists: [{ id: list, name: "Entrance" }] },
    });
    const early = await simulate("secret2", { list: others });
    expect(early).toMatchObject({ word: "invalid_time", told: { admitted_at: null, lists: [] } });
    expect((await simulate("secret2")).told).toMatchObject({ admitted_at: "2026-11-21T12:01:00Z" });
  });
});
