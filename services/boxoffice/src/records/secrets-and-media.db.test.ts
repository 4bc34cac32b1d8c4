import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample } from "../testing/records.ts";

const office = emptyOffice();

beforeEach(async () => {
  const other = [sample.event({ slug: "other" }), sample.item(), sample.order({ positions: [2, 3].map(numbered) })];
  await office.apply(
    ...festival,
    ...other.map((sent) => ({ ...sent, event: "other" })),
    sample.order({ positions: [1, 2].map(numbered) }),
  );
  await takeFacts(office.db);
});

const numbered = (id: number) => position({ id, positionid: id, secret: `secret-${id}` });
const fieldsOf = (errors: Record<string, unknown> | undefined) => Object.keys(errors ?? {}).sort();

describe.each([
  {
    kind: "revoked_secret",
    created: sample.revokedSecret({ secret: " to the letter ", position: 1 }),
    changed: sample.revokedSecret({ secret: "another" }),
    topic: "revoked-secret-changed",
    key: "org/fest/1",
    value: { organizer: "org", event: "fest", id: 1, secret: " to the letter ", position: 1 },
  },
  {
    kind: "blocked_secret",
    created: sample.blockedSecret(),
    changed: sample.blockedSecret({ blocked: false }),
    topic: "blocked-secret-changed",
    key: "org/fest/1",
    value: { organizer: "org", event: "fest", id: 1, secret: "blocked", blocked: true },
  },
  {
    kind: "reusable_medium",
    created: sample.medium({
      linked_orderposition: 1,
      expires: "2030-01-01T00:00:00Z",
      notes: "of Ada",
      info: { a: 1 },
    }),
    changed: sample.medium({ active: false, customer: "AB12" }),
    topic: "reusable-medium-changed",
    key: "org//1",
    value: {
      organizer: "org",
      id: 1,
      type: "nfc_uid",
      identifier: "04AB",
      active: true,
      expires: Date.UTC(2030, 0) * 1000,
      linkedPositions: [{ event: "fest", id: 1 }],
    },
  },
])("a $kind", ({ kind, created, changed, topic, key, value }) => {
  it("[R4.5, R5.1, R5.5] is told of when it comes, changes and goes", async () => {
    expect(await office.apply(created)).toEqual({});
    expect(await office.apply(created)).toEqual({});
    const [first, ...none] = await takeFacts(office.db);
    expect(first).toEqual({ topic, key, value: { ...value, revision: expect.any(Number) as number } });
    expect(none).toEqual([]);
    await office.apply(changed, record(kind, { id: 1 }, { deleted: true }), created);
    const [second, gone, again] = await takeFacts(office.db);
    const revisions = [first, second, again].map((fact) => Number(fact?.value?.["revision"]));
    expect(revisions).toEqual(revisions.toSorted((one, two) => one - two));
    expect(new Set(revisions).size).toBe(3);
    expect(gone).toEqual({ topic, key, value: null });
  });

  it("[R3.1, R3.14] goes with what it lives in", async () => {
    await office.apply(created);
    await takeFacts(office.db);
    await office.apply(
      ...["fest", "other"].map((slug) => record("event", { slug }, { deleted: true, event: slug })),
      record("organizer", { slug: "org" }, { deleted: true }),
    );
    expect(await takeFacts(office.db)).toContainEqual({ topic, key, value: null });
    expect(await office.db.many(sql`select slug from organizer`)).toEqual([]);
  });
});

it("[R3.53] a revoked secret knows no position of another event", async () => {
  expect(fieldsOf((await office.apply(sample.revokedSecret({ position: 3 })))[1])).toEqual(["position"]);
  expect(await office.apply(sample.revokedSecret({ position: 2 }))).toEqual({});
});

it("[R3.52] a secret needs an id and a text, and no time", async () => {
  const rejected = await office.apply(record("revoked_secret", { id: 1 }), record("blocked_secret", { id: 1 }));
  expect([fieldsOf(rejected[1]), fieldsOf(rejected[2])]).toEqual([["secret"], ["secret"]]);
});

describe("a medium", () => {
  const links = async () =>
    (await office.db.one<{ links: unknown }>(sql`select data -> 'linked_orderpositions' as links from reusable_medium`))
      .links;

  it.each([
    ["the only position of that id", { linked_orderpositions: [1, "3"] }, ["fest/1", "other/3"]],
    ["one that is given alone", { linked_orderposition: 3, linked_orderpositions: [] }, ["other/3"]],
    ["the list rather than the one", { linked_orderposition: 3, linked_orderpositions: [1] }, ["fest/1"]],
    ["one whose event is named", { linked_orderpositions: [{ id: 2, event: "other" }] }, ["other/2"]],
    [
      "both of one id",
      { linked_orderpositions: ["fest", "other"].map((event) => ({ id: 2, event })) },
      ["fest/2", "other/2"],
    ],
    [
      "expanded positions",
      {
        linked_orderpositions: [
          { id: 2, order: { code: "ABCDE", event: "other" } },
          { id: 1, order: "ABCDE" },
        ],
      },
      ["other/2", "fest/1"],
    ],
    ["one that is named in two ways once", { linked_orderpositions: [1, { id: 1, event: "fest" }] }, ["fest/1"]],
    ["nobody", { linked_orderpositions: null }, []],
  ])("[R3.55, R3.56] is linked to %s", async (_name, fields, expected) => {
    expect(await office.apply(sample.medium(fields))).toEqual({});
    const wanted = expected.map((name) => ({ event: name.split("/")[0], id: Number(name.split("/")[1]) }));
    expect(await links()).toEqual(wanted);
    expect((await takeFacts(office.db)).map(({ value }) => value?.["linkedPositions"])).toEqual([wanted]);
  });

  it.each([
    ["unknown", { linked_orderpositions: [9] }, ["linked_orderpositions"]],
    ["unknown, alone", { linked_orderposition: 9 }, ["linked_orderposition"]],
    ["in another event", { linked_orderpositions: [{ id: 1, event: "other" }] }, ["linked_orderpositions"]],
    [
      "not an id",
      { linked_orderpositions: [1.5, "x", 0, -1, [], true, {}] },
      ["linked_orderpositions", "linked_orderpositions.6.id"],
    ],
    ["not an id, alone", { linked_orderposition: "x" }, ["linked_orderposition"]],
    ["without an id, alone", { linked_orderposition: { id: "x" } }, ["linked_orderposition.id"]],
  ])("[R3.55, R3.56] is not linked to what is %s", async (_name, fields, expected) => {
    const errors = (await office.apply(sample.medium(fields)))[1];
    expect(fieldsOf(errors).filter((field) => !/positions\.[045]/.test(field))).toEqual(expected);
  });

  it("[R3.55] names the event where several have a position of that id", async () => {
    expect(await office.apply(sample.medium({ linked_orderpositions: [1, 2] }))).toEqual({
      1: {
        linked_orderpositions: [
          'Element 2: Several events have a position 2; name its event as {"id": 2, "event": …}.',
        ],
      },
    });
    expect(await office.apply(sample.medium({ linked_orderposition: 2 }))).toEqual({
      1: {
        linked_orderposition: ['Several events have a position 2; name its event as {"id": 2, "event": …}.'],
      },
    });
  });

  it("[R3.54] is known by its type and identifier, which no other of the organizer has", async () => {
    const two = [sample.medium(), sample.medium({ id: 2, type: "barcode" })];
    const stranger = { ...sample.organizer({ slug: "stranger" }), organizer: "stranger" };
    expect(await office.apply(...two, stranger, { ...sample.medium(), organizer: "stranger" })).toEqual({});
    expect(await office.apply(sample.medium({ id: 3 }))).toEqual({
      1: { identifier: ["Medium 1 has this identifier."] },
    });
    const swapped = [sample.medium({ type: "barcode" }), sample.medium({ id: 2 })];
    expect(await office.apply(...swapped)).toEqual({});
    expect(fieldsOf((await office.apply(sample.medium({ type: "barcode", organizer: "other" })))[1])).toEqual([
      "organizer",
    ]);
  });

  it("[R3.57] keeps what else is known of it, and its link when the position goes", async () => {
    const sent = {
      organizer: "org",
      created: "2026-01-01T00:00:00Z",
      updated: null,
      linked_giftcard: 5,
      notes: "n",
      info: {},
    };
    await office.apply(sample.medium({ ...sent, customer: "C", linked_orderposition: 1, unknown: 1 }));
    await office.apply(record("order", { code: "ABCDE" }, { deleted: true }));
    expect(await office.db.many(sql`select data from reusable_medium`)).toEqual([
      {
        data: {
          id: 1,
          ...sent,
          type: "nfc_uid",
          identifier: "04AB",
          active: true,
          expires: null,
          customer: "C",
          linked_orderpositions: [{ event: "fest", id: 1 }],
        },
      },
    ]);
  });
});
