import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventFact, itemFact, minute, noon, positionFact } from "../../testing/facts.ts";
import { inWord, listFields, type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";

let database: TestDatabase;
let checkin: RunningCheckin;
let list: number;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  list = (await checkin.createList()).id;
});

const wordOf = async (sent: Scan) => inWord(await checkin.redeem(sent));

const storedScans = async () =>
  (await checkin.db.one<{ scans: number }>(sql`select count(*)::integer as scans from scan`)).scans;

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it("[C3.48] a scan whose caller gives up while it is read is not stored", async () => {
  await checkin.deliver(topics.positionChanged, [positionFact(1)]);
  const sent = { scan: scan(list, "secret1", { nonce: "given up" }) };
  await checkin.db.transaction(async (tx) => {
    await tx.run(sql`lock table question in access exclusive mode`);
    await expect(checkin.connect(Scans).redeem(sent, { timeoutMs: 300 })).rejects.toMatchObject({ kind: "timeout" });
  });
  // A later scan of the same code is decided after it.
  expect(await wordOf(scan(list, "secret1", { type: ScanType.EXIT }))).toBe("admitted");
  expect(await storedScans()).toBe(1);
});

describe("[C3.41] a scan that is held back", () => {
  it("by another change of its ticket is undecided and not stored, and others beside it are decided", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
    await checkin.db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id = 1 for update`);
      const held = wordOf(scan(list, "secret1"));
      expect(await wordOf(scan(list, "secret2"))).toBe("admitted");
      // The other change lasts as long as this call.
      expect(await held).toBe("undecided");
      expect(await storedScans()).toBe(1);
    });
    expect(await wordOf(scan(list, "secret1"))).toBe("admitted");
  });

  it("by the question to boxoffice holds up no other one", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(2)]);
    const sold = Promise.withResolvers<Uint8Array[]>();
    checkin.sold = () => sold.promise;
    const held = wordOf(scan(list, "secret1"));
    expect(await wordOf(scan(list, "secret2"))).toBe("admitted");
    sold.resolve([PositionChanged.encode(positionFact(1)).finish()]);
    expect(await held).toBe("admitted");
    expect(checkin.asked).toEqual(["secret1"]);
  });

  it("with other unknown codes is asked for by one call, and leaves boxoffice free for another organizer", async () => {
    const other = { organizer: "other", event: "sampleconf" };
    await checkin.deliver(topics.eventChanged, [eventFact(other)]);
    const theirs = await checkin.lists.createCheckinList({ ...other, fields: listFields() });
    const answer = Promise.withResolvers<Uint8Array[]>();
    checkin.sold = () => answer.promise;
    const calls = numbers(40).map((call) => wordOf(scan(list, `unknown${call}`)));
    await expect.poll(() => checkin.asked.length).toBe(40);
    calls.push(wordOf(scan(theirs.list?.id ?? 0, "theirs", other)));
    await expect.poll(() => checkin.asked).toContain("theirs");
    answer.resolve([]);
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["unknownTicket"]));
  });
});

describe("[C3.42] many scans of one ticket", () => {
  it("delay the scans of others by one place in a batch, and each of them is decided", async () => {
    const { id } = await checkin.createList({ allowMultipleEntries: true });
    await checkin.deliver(
      topics.positionChanged,
      numbers(20).map((ticket) => positionFact(ticket)),
    );
    const ended: string[] = [];
    const hot = numbers(60).map(async () => {
      const outcome = await checkin.redeem(scan(id, "secret1", { type: ScanType.EXIT }));
      ended.push("hot");
      return inWord(outcome);
    });
    const others = numbers(19).map(async (other) => {
      const outcome = await checkin.redeem(scan(id, `secret${other + 1}`));
      ended.push("other");
      return inWord(outcome);
    });
    expect(new Set(await Promise.all([...hot, ...others]))).toEqual(new Set(["admitted"]));
    // All other scans were decided while most scans of the busy ticket still waited.
    expect(ended.lastIndexOf("other")).toBeLessThan(40);
    expect(await storedScans()).toBe(79);
  });
});

describe("[C3.43] a scan whose answer is too large for a message is answered without what does not fit", () => {
  const long = (characters: number) => [
    { question: 7, answer: "x".repeat(characters), questionIdentifier: "Q", options: [], optionIdentifiers: [] },
  ];
  const expand = { subevent: false, item: true, variation: false, answersQuestion: false, addons: false };

  it.each([
    ["shows all", { answers: 1_000_000, resource: 1_000_000 }, { answers: 1, items: 1 }],
    ["leaves resources out first", { answers: 2_000_000, resource: 4_000_000 }, { answers: 1, items: undefined }],
    ["then answers", { answers: 3_000_000, resource: 10 }, { answers: 0, items: undefined }],
  ])("%s", async (_what, sizes, shown) => {
    const document = Buffer.from(JSON.stringify({ description: "x".repeat(sizes.resource) }));
    await checkin.deliver(topics.itemChanged, [itemFact(10, { revision: 2, document })]);
    await checkin.deliver(topics.positionChanged, [positionFact(1, { answers: long(sizes.answers) })]);
    const outcome = await checkin.redeem(scan(list, "secret1", { expand }));
    expect(inWord(outcome)).toBe("admitted");
    const { position, documents } = outcome;
    expect({ answers: position?.position?.answers.length, items: documents?.items.length }).toEqual(shown);
    expect(await storedScans()).toBe(1);
  });
});

describe("[C3.44] a ticket with a long history", () => {
  it("shows its newest 100 scans, and rules count all of them", async () => {
    const rules = JSON.stringify({ "<": [{ var: "entries_number" }, 151] });
    const { id } = await checkin.createList({ allowMultipleEntries: true, rules });
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    for (let entry = 1; entry <= 151; entry += 1) {
      const outcome = await checkin.redeem(scan(id, "secret1", { at: noon + entry * minute }));
      expect(inWord(outcome)).toBe("admitted");
      expect(outcome.position?.checkins).toHaveLength(Math.min(entry, 100));
      expect(outcome.position?.checkins[0]?.at).toBe(noon + entry * minute);
    }
    expect(inWord(await checkin.redeem(scan(id, "secret1")))).toBe("rules");
  });
});
