import type { Documents, Expand } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { beforeAll, describe, expect, it } from "vitest";
import { askOne, askPage } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, place, positionFact, questionFact, subeventFact } from "../../testing/facts.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";
import { expandPositions } from "./expand-positions.ts";

let list: number;

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const nothing: Expand = { subevent: false, item: false, variation: false, answersQuestion: false, addons: false };
const answer = (question: number) => ({
  question,
  answer: "x",
  questionIdentifier: `Q${question}`,
  options: [],
  optionIdentifiers: [],
});

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeAll(async () => {
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true }), eventFact({ event: "other" })]);
  await checkin.deliver(topics.subeventChanged, [
    subeventFact(5, { document: json({ id: 5, name: { en: "Monday ★" } }) }),
    subeventFact(6),
    { ...subeventFact(7, { document: json({ id: 7 }) }), event: "other" },
  ]);
  await checkin.deliver(topics.itemChanged, [
    itemFact(10, { document: json({ id: 10, variations: [] }) }),
    itemFact(11, { document: json({ id: 11, variations: [{ id: 21 }, { id: 22 }] }) }),
  ]);
  await checkin.deliver(topics.questionChanged, [questionFact(1), questionFact(2), questionFact(3)]);
  await checkin.deliver(topics.positionChanged, [
    positionFact(1, { subevent: 5, answers: [answer(1), answer(99)] }),
    positionFact(2, { subevent: 6, positionid: 3, addonTo: 1, item: 11, variation: 22, answers: [answer(2)] }),
    positionFact(3, { subevent: 7, positionid: 2, addonTo: 1 }),
    positionFact(4, { addonTo: 1, canceled: true, answers: [answer(3)] }),
    positionFact(5, { subevent: 5, addonTo: 5 }),
    { ...positionFact(6, { addonTo: 1 }), event: "other" },
  ]);
  list = (await checkin.createList({ allProducts: false, limitProducts: [10] })).id;
  const everything = (await checkin.createList()).id;
  await checkin.redeemAll([scan(list, "secret3"), scan(everything, "secret2")]);
});
const read = (documents: Documents | undefined) =>
  documents &&
  Object.fromEntries(
    Object.entries(documents).map(([kind, sent]) => [
      kind,
      (sent as Documents["items"]).map((each) => JSON.parse(Buffer.from(each.json).toString()) as unknown),
    ]),
  );
const monday = { id: 5, name: { en: "Monday ★" } };
const first = { id: 10, variations: [] };
const second = { id: 11, variations: [{ id: 21 }, { id: 22 }] };

describe("[C2.23] what positions refer to", () => {
  it.each([
    ["dates", { subevent: true }, { subevents: [monday], items: [], questions: [] }],
    ["items", { item: true }, { subevents: [], items: [first], questions: [] }],
    ["variations, within their items", { variation: true }, { subevents: [], items: [first], questions: [] }],
    ["questions that were answered", { answersQuestion: true }, { subevents: [], items: [], questions: [{ id: 1 }] }],
    [
      "all of it, of their add-ons too",
      { subevent: true, item: true, variation: true, answersQuestion: true, addons: true },
      { subevents: [monday], items: [first, second], questions: [{ id: 1 }, { id: 2 }] },
    ],
    ["nothing", {}, undefined],
    ["nothing but add-ons", { addons: true }, undefined],
  ])("comes with them once: %s", async (_name, wanted, expected) => {
    const expand = { ...nothing, ...wanted };
    expect(read((await askOne({ checkin, list }, 1, { expand })).documents)).toEqual(expected);
    expect(read((await askPage({ checkin, list }, { expand })).documents)).toEqual(expected);
  });

  it("costs nothing where nothing is asked for", async () => {
    const untouched = new Proxy(checkin.db, {
      get: () => () => {
        throw new Error("something was read");
      },
    });
    const { position } = await askOne({ checkin, list }, 1);
    const positions = position === undefined ? [] : [position];
    const key = { ...place, list };
    const expected = { positions, documents: undefined };
    expect(await expandPositions(untouched, key, { expand: undefined, positions })).toEqual(expected);
    expect(await expandPositions(untouched, key, { expand: nothing, positions })).toEqual(expected);
    await expect(expandPositions(untouched, key, { expand: { ...nothing, item: true }, positions })).rejects.toThrow(
      "something was read",
    );
  });
});

describe("[C2.24] the add-ons of a position", () => {
  const expand = { ...nothing, addons: true };

  it("are its positions that are not canceled, also those that are not on the list, as the list sees them", async () => {
    const { position } = await askOne({ checkin, list }, 1, { expand });
    expect(position?.addons.map((addon) => addon.position?.id)).toEqual([3, 2]);
    expect(position?.addons).toMatchObject([
      { attendeeName: "Visitor 3", checkins: [{ list }], addons: [] },
      { attendeeName: "Visitor 2", checkins: [], addons: [] },
    ]);
  });

  it("are shown each with its own position, and only on request", async () => {
    const { positions } = await askPage({ checkin, list }, { expand, ordering: ["positionid", "order__code"] });
    const addonsOf = new Map(
      positions.map(({ position, addons }) => [position?.id, addons.map((addon) => addon.position?.id)]),
    );
    expect(addonsOf).toEqual(
      new Map([
        [1, [3, 2]],
        [3, []],
        [5, [5]],
      ]),
    );
    const { positions: plain } = await askPage({ checkin, list });
    expect(plain.flatMap(({ addons }) => addons)).toEqual([]);
  });
});

describe("[C1.6] the date of a list", () => {
  it("comes with one list and with a page of lists, where it is asked for", async () => {
    const dated = await checkin.createList({ subevent: 5 });
    await checkin.createList({ subevent: 5 });
    const all = { ...place, page: 1, pageSize: 50, ordering: [], withCounts: false };
    const expand = { ...nothing, subevent: true };
    const documents = { subevents: [monday], items: [], questions: [] };
    expect(read((await checkin.lists.listCheckinLists({ ...all, expand })).documents)).toEqual(documents);
    expect(read((await checkin.lists.getCheckinList({ ...place, id: dated.id, expand })).documents)).toEqual(documents);
    expect((await checkin.lists.listCheckinLists(all)).documents).toBeUndefined();
    expect((await checkin.lists.getCheckinList({ ...place, id: dated.id })).documents).toBeUndefined();
    const undated = await checkin.lists.getCheckinList({ ...place, id: list, expand });
    expect(read(undated.documents)).toEqual({ subevents: [], items: [], questions: [] });
  });
});
