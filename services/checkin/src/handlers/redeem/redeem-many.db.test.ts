import { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { MediumLink } from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan, ScanAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { questionDocument } from "@tessera/testkit/question-document";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import {
  eventFact,
  itemFact,
  mediumFact,
  minute,
  noon,
  place,
  positionFact,
  questionFact,
} from "../../testing/facts.ts";
import { recount } from "../../testing/recount.ts";
import { inWord, listFields, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const scans = checkin.connect(Scans);
const { organizer } = place;
let list: number;

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const sell = (...ids: number[]) =>
  checkin.deliver(
    topics.positionChanged,
    ids.map((id) => positionFact(id)),
  );

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
  list = (await checkin.createList()).id;
});

const entry = (code: string, changes: Partial<Scan> = {}) =>
  scan(0, code, { ...{ organizer: "", event: "" }, ...changes });
const exit = (code: string, changes: Partial<Scan> = {}) => entry(code, { type: ScanType.EXIT, ...changes });

async function answersTo(sent: readonly Scan[], { on = [list], isSlim = true } = {}): Promise<ScanAnswer[]> {
  const { answers } = await scans.redeemMany({
    ...{ organizer, isSlim },
    scans: sent.map((each) => ({ scan: each, lists: on })),
  });
  return answers;
}

const wordOf = ({ answer }: ScanAnswer) => (answer?.$case === "outcome" ? inWord(answer.value) : "invalid lists");
/** Sends the scans, and again those that had no turn, as a client does: on a busy machine an upload has several parts. */
async function redeem(sent: readonly Scan[], options?: Parameters<typeof answersTo>[1]): Promise<string[]> {
  const words: string[] = [];
  while (words.length < sent.length) {
    const answers = await answersTo(sent.slice(words.length), options);
    if (answers.length === 0) break;
    words.push(...answers.map(wordOf));
  }
  return words;
}

const stored = () =>
  db.many<{ position: number | null; type: string; reason: string | null }>(
    sql`select scan.position, scan.type, scan.reason from scan order by scan.id`,
  );
const countStored = async () => (await stored()).length;

const expectTrueCounts = async () => {
  const { counted, recounted } = await recount(db);
  expect(counted).toEqual(recounted);
};

describe("[F2.3] the scans of one ticket", () => {
  it("are decided in order, also across chunks", async () => {
    await sell(1, 2, 3);
    const visits = numbers(60).flatMap((visit) =>
      [1, 2, 3].map((id) => (visit % 2 === 1 ? entry(`secret${id}`) : exit(`secret${id}`))),
    );
    expect(new Set(await redeem(visits))).toEqual(new Set(["admitted"]));
    const types = (await stored()).filter(({ position }) => position === 2).map(({ type }) => type);
    expect(types).toEqual(numbers(60).map((visit) => (visit % 2 === 1 ? "entry" : "exit")));
    // In any other order one of them is refused.
    expect(await redeem([entry("secret1"), entry("secret1"), exit("secret1"), entry("secret1")])).toEqual([
      ...["admitted", "already_redeemed", "admitted", "admitted"],
    ]);
    await expectTrueCounts();
  });

  it("are in order whatever code they have", async () => {
    await sell(1);
    await checkin.deliver(topics.reusableMediumChanged, [mediumFact(1, { type: "barcode", identifier: "BAND" })]);
    const visits = numbers(30).flatMap(() => [entry("secret1"), exit("BAND"), entry("BAND"), exit("secret1")]);
    expect(new Set(await redeem(visits))).toEqual(new Set(["admitted"]));
  });

  it("are in order beside the question to boxoffice", async () => {
    checkin.sold = async (wanted) =>
      wanted.some(({ secret }) => secret === "secret1") ? [PositionChanged.encode(positionFact(1)).finish()] : [];
    expect(
      await redeem([entry("secret1"), entry("nobody"), entry("secret1"), exit("secret1"), entry("secret1")]),
    ).toEqual(["admitted", "unknownTicket", "already_redeemed", "admitted", "admitted"]);
    expect(checkin.asked.toSorted()).toEqual(["nobody", "secret1"]);
  });

  it("see answers that an earlier one brought, also on another list", async () => {
    const other = (await checkin.createList()).id;
    const document = Buffer.from(questionDocument(7));
    await checkin.deliver(topics.questionChanged, [questionFact(7, { items: [10], document })]);
    await sell(1, 2);
    const answers = [{ question: 7, value: "true" }];
    const { answers: told } = await scans.redeemMany({
      ...{ organizer, isSlim: true },
      scans: [
        { scan: entry("secret1"), lists: [list] },
        { scan: entry("secret1", { answers }), lists: [list] },
        { scan: entry("secret1"), lists: [other] },
        { scan: entry("secret2"), lists: [other] },
      ],
    });
    expect(told.map(wordOf)).toEqual(["incomplete", "admitted", "admitted", "incomplete"]);
  });

  it("wait for the medium that an earlier one brought", async () => {
    await checkin.deliver(topics.itemChanged, [
      itemFact(10, { revision: 2, mediaPolicy: "new", mediaType: "nfc_uid" }),
    ]);
    await sell(1);
    const exchangeMedium = { type: "nfc_uid", identifier: "04AB" };
    checkin.linked = async () => {
      expect(await stored()).toEqual([]);
      return MediumLink.LINKED;
    };
    expect(await redeem([entry("secret1", { exchangeMedium }), exit("secret1"), entry("secret1")])).toEqual([
      ...["admitted", "admitted", "exchange"],
    ]);
    expect((await stored()).map(({ type }) => type)).toEqual(["entry", "exit"]);
  });
});

describe("[F2.4] a scan that is sent again", () => {
  it("succeeds again and is stored once, in the same batch, in another and alone", async () => {
    await sell(...numbers(100));
    const sent = numbers(100).map((id) => entry(`secret${id}`, { nonce: `n${id}` }));
    expect(new Set(await redeem([...sent, ...sent]))).toEqual(new Set(["admitted"]));
    expect(new Set(await redeem(sent))).toEqual(new Set(["admitted"]));
    expect(inWord(await checkin.redeem(scan(list, "secret7", { nonce: "n7" })))).toBe("admitted");
    expect(await countStored()).toBe(100);
    await expectTrueCounts();
  });

  it("is stored once where several batches come at once", async () => {
    await sell(...numbers(100));
    const sent = numbers(100).map((id) => entry(`secret${id}`, { nonce: `n${id}`, force: id % 2 === 0 }));
    const all = await Promise.all([redeem(sent), redeem(sent.toReversed()), redeem(sent)]);
    expect(new Set(all.flat())).toEqual(new Set(["admitted"]));
    expect(await countStored()).toBe(100);
    await expectTrueCounts();
  });
});

describe("[F2.1] a batch", () => {
  it("has outcomes of all kinds, on lists of several events", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact({ event: "second" })]);
    const made = await checkin.lists.createCheckinList({ organizer, event: "second", fields: listFields() });
    const second = made.list?.id ?? 0;
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2, { blocked: ["nobody"] }),
      { ...positionFact(3), event: "second" },
    ]);
    const told = await answersTo(
      [entry("secret3"), entry("secret1"), entry("secret2"), entry("secret1", { force: true }), entry("nothing")],
      { on: [list, second], isSlim: false },
    );
    expect(told.map(wordOf)).toEqual(["admitted", "admitted", "blocked", "admitted", "unknownTicket"]);
    expect(told.map(({ position }) => position)).toEqual([3, 1, 2, 1, undefined]);
    expect(told[0]).toMatchObject({
      answer: {
        value: { list: { event: "second", id: second }, position: { position: { id: 3, secret: "secret3" } } },
      },
    });
    const [slim] = await answersTo([entry("secret3")], { on: [second] });
    expect(slim).toMatchObject({
      position: 3,
      answer: { value: { outcome: { value: { reason: "already_redeemed" } } } },
    });
    expect(slim?.answer).toMatchObject({ value: { position: undefined } });
  });

  it("[F2.2] names unknown lists of a scan, and decides the others", async () => {
    await sell(1);
    const theirs = await (async () => {
      await checkin.deliver(topics.eventChanged, [eventFact({ organizer: "other" })]);
      const made = await checkin.lists.createCheckinList({
        organizer: "other",
        event: place.event,
        fields: listFields(),
      });
      return made.list?.id ?? 0;
    })();
    const { answers } = await scans.redeemMany({
      ...{ organizer, isSlim: true },
      scans: [
        { scan: entry("secret1"), lists: [theirs] },
        { scan: entry("secret1"), lists: [list, 999] },
        { scan: entry("secret1"), lists: [list] },
        { scan: entry("secret1", { nonce: "n".repeat(200) }), lists: [list] },
      ],
    });
    expect(answers.map(wordOf)).toEqual(["invalid lists", "invalid lists", "admitted", "undecided"]);
    expect(answers[1]?.answer).toMatchObject({ value: { problems: [expect.stringContaining("999")] } });
    const { answers: limited } = await scans.redeemMany({
      ...{ organizer, isSlim: true, among: { slugs: ["another"] } },
      scans: [{ scan: entry("secret1"), lists: [list] }],
    });
    expect(limited.map(wordOf)).toEqual(["invalid lists"]);
  });

  it("is not failed by a scan that cannot be decided", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { item: 11 })]);
    await checkin.deliver(topics.questionChanged, [questionFact(7, { items: [10], document: Buffer.from("{}") })]);
    expect(await redeem([entry("secret1"), entry("secret2"), exit("secret1")])).toEqual([
      ...["undecided", "admitted", "admitted"],
    ]);
  });

  it("keeps the times that scans say, and takes the newest for the last one", async () => {
    await sell(1);
    const [first, last] = [Date.UTC(1970, 0, 1) * 1000, Date.UTC(2100, 0, 1) * 1000];
    expect(await redeem([entry("secret1", { at: last }), exit("secret1", { at: first })])).toEqual([
      ...["admitted", "admitted"],
    ]);
    expect(await db.many(sql`select scan.at from scan order by scan.id`)).toEqual([{ at: last }, { at: first }]);
    // The entry of 2100 is newer than the exit.
    expect(await redeem([entry("secret1", { at: noon + minute })])).toEqual(["already_redeemed"]);
  });
});

describe("[F2.3] beside scans of others", () => {
  it("each ticket is admitted once", async () => {
    await sell(...numbers(150));
    const codes = numbers(150).map((id) => `secret${id}`);
    const [one, other, singles] = await Promise.all([
      redeem(codes.map((code) => entry(code))),
      redeem(codes.toReversed().map((code) => entry(code))),
      Promise.all(codes.map(async (code) => inWord(await checkin.redeem(scan(list, code))))),
    ]);
    for (const index of codes.keys()) {
      const told = [one[index], other[codes.length - 1 - index], singles[index]];
      expect(told.toSorted()).toEqual(["admitted", "already_redeemed", "already_redeemed"]);
    }
    expect(await countStored()).toBe(450);
    await expectTrueCounts();
  });

  it("a ticket that another change holds back is undecided, and not stored; the others are decided", async () => {
    await sell(1, 2, 3);
    await db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id = 2 for update`);
      expect(
        await redeem([entry("secret1"), entry("secret2", { nonce: "a" }), entry("secret3"), exit("secret2")]),
      ).toEqual(["admitted", "undecided", "admitted", "undecided"]);
    });
    expect(await countStored()).toBe(2);
    expect(await redeem([entry("secret2", { nonce: "a" })])).toEqual(["admitted"]);
  });

  it("no scan is stored after its sender has gone", async () => {
    await sell(1);
    await db.transaction(async (tx) => {
      await tx.run(sql`lock table question in access exclusive mode`);
      const sent = { organizer, isSlim: true, scans: [{ scan: entry("secret1"), lists: [list] }] };
      await expect(scans.redeemMany(sent, { timeoutMs: 300 })).rejects.toMatchObject({ kind: "timeout" });
    });
    expect(await redeem([exit("secret1")])).toEqual(["admitted"]);
    expect(await countStored()).toBe(1);
  });
});

it("[F2.3] while boxoffice is away, unknown codes are unknown", async () => {
  await sell(1);
  checkin.sold = () => Promise.reject(new Fault("unavailable", "down", "no boxoffice"));
  expect(await redeem([entry("nothing"), entry("secret1")])).toEqual(["unknownTicket", "admitted"]);
});
