import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample } from "../testing/records.ts";
import {
  both,
  first,
  positionsIn,
  scan,
  scanned,
  second,
  takePositions,
  withoutSecond,
} from "../testing/scanned-positions.ts";

const office = emptyOffice();

const split = (rest: object = {}) =>
  sample.order({ code: "SPLIT", positions: [position({ ...second, positionid: 1, secret: "new" })], ...rest });

beforeEach(async () => {
  await office.apply(...festival, sample.seat());
  await office.apply(scanned);
  await takeFacts(office.db);
});

const published = () => takePositions(office.db);
const positionsOf = (code: string) => positionsIn(office.db, code);

describe("an order that is split", () => {
  const ofSecond = async () => (await published()).filter((fact) => fact["key"] === "org/fest/2");

  it("[R3.40, R3.47] keeps the scans of its positions where its records come one by one", async () => {
    expect(await office.apply(withoutSecond())).toEqual({});
    expect(await office.apply(split())).toEqual({});
    expect((await ofSecond()).at(-1)).toMatchObject({
      position: { canceled: false, secret: "new", order: { code: "SPLIT" } },
      earlierCheckins: [{ id: 5 }],
    });
    expect([await positionsOf("ABCDE"), await positionsOf("SPLIT")]).toEqual([[[1, false]], [[2, false]]]);
    // Neither order changes the position of the other any more.
    expect(await office.apply(withoutSecond({ status: "c" }))).toEqual({});
    expect(await ofSecond()).toEqual([]);
    expect(await office.apply(both)).toEqual({ 1: { "positions.1": ["Position 2 belongs to another order."] } });
  });

  it("[R3.40, R3.47] keeps them where another record comes between its records", async () => {
    expect(await office.apply(withoutSecond(), sample.revokedSecret({ secret: "two" }), split())).toEqual({});
    expect((await ofSecond()).map((fact) => fact["earlierCheckins"])).toEqual([
      [expect.objectContaining({ id: 5 })],
      [expect.objectContaining({ id: 5 })],
    ]);
  });

  it.each([
    ["next to each other", []],
    ["with another record between them", [sample.revokedSecret({ secret: "two" })]],
    [
      "with another order between them",
      [sample.order({ code: "THIRD", positions: [position({ id: 9, secret: "9" })] })],
    ],
    [
      "with both between them",
      [sample.order({ code: "THIRD", positions: [position({ id: 9, secret: "9" })] }), sample.gate()],
    ],
  ])("[R3.40, R3.47] may come in either order in one batch, %s", async (_name, between) => {
    expect(await office.apply(split(), ...between, withoutSecond())).toEqual({});
    expect((await ofSecond()).at(-1)).toMatchObject({
      position: { canceled: false, secret: "new", order: { code: "SPLIT" } },
      earlierCheckins: [{ id: 5 }],
    });
    expect([await positionsOf("ABCDE"), await positionsOf("SPLIT")]).toEqual([[[1, false]], [[2, false]]]);
  });

  it.each([
    ["next to each other", []],
    ["with another record between them", [sample.gate()]],
  ])("[R3.40, R3.47] may swap positions with another in one batch, %s", async (_name, between) => {
    const third = position({ id: 3, secret: "three", checkins: [{ ...scan, id: 6 }] });
    expect(await office.apply(sample.order({ code: "OTHER", positions: [third] }))).toEqual({});
    await takeFacts(office.db);
    const [one, other] = [
      sample.order({ positions: [first, position({ id: 3, positionid: 2, secret: "three" })] }),
      sample.order({ code: "OTHER", positions: [position({ ...second, positionid: 1 })] }),
    ];
    expect(await office.apply(one, ...between, other)).toEqual({});
    expect([await positionsOf("ABCDE"), await positionsOf("OTHER")]).toEqual([
      [
        [1, false],
        [3, false],
      ],
      [[2, false]],
    ]);
    const last = new Map((await published()).map((fact) => [fact["key"], fact]));
    expect([last.get("org/fest/2"), last.get("org/fest/3")]).toMatchObject([
      { position: { canceled: false, order: { code: "OTHER" } }, earlierCheckins: [{ id: 5 }] },
      { position: { canceled: false, order: { code: "ABCDE" } }, earlierCheckins: [{ id: 6 }] },
    ]);
  });

  it("[R3.40] gets no position that its order is sent with, and one that its order is sent without", async () => {
    const wider = sample.order({ code: "SPLIT", positions: [second, position({ id: 3, secret: "three" })] });
    const refused = { "positions.0": ["Position 2 belongs to another order."] };
    expect(await office.apply(wider, both)).toEqual({ 1: refused });
    expect(await positionsOf("ABCDE")).toEqual([
      [1, false],
      [2, false],
    ]);
    const none = sample.order({ positions: [position({ item: 99 })] });
    expect(await office.apply(wider, none)).toEqual({ 2: { "positions.0.item": [expect.any(String)] } });
    expect([await positionsOf("ABCDE"), (await positionsOf("SPLIT"))?.map(([id]) => id).sort()]).toEqual([
      [[1, false]],
      [2, 3],
    ]);
  });

  it("[R3.40] may come in either order once a record has left the position out", async () => {
    await office.apply(withoutSecond());
    expect(await office.apply(split(), withoutSecond({ status: "n" }))).toEqual({});
    expect([await positionsOf("ABCDE"), await positionsOf("SPLIT")]).toEqual([[[1, false]], [[2, false]]]);
  });

  it("[R3.40] gives a position to one order of a batch alone, also where its former order comes in between", async () => {
    await office.apply(withoutSecond());
    const other = sample.order({ code: "OTHER", positions: [second] });
    expect(await office.apply(split(), withoutSecond({ status: "n" }), other)).toEqual({
      3: {
        "positions.0": ["Position 2 belongs to another order."],
        positions: [expect.stringContaining("used once in an event")],
      },
    });
    expect(await positionsOf("SPLIT")).toEqual([[2, false]]);
  });

  it.each([
    ["in the same batch", true],
    ["in a later batch", false],
  ])("[R3.40, R3.47] gives it to the order behind which its former order is removed %s", async (_name, isOneBatch) => {
    const removal = record("order", { code: "ABCDE" }, { deleted: true });
    const newer = split({ last_modified: "2026-02-02T10:00:00Z" });
    await office.apply(sample.order({ positions: [first, second], last_modified: "2026-02-01T10:00:00Z" }));
    if (isOneBatch) expect(await office.apply(split(), removal)).toEqual({});
    else expect([await office.apply(newer), await office.apply(removal)]).toEqual([{}, {}]);
    expect((await ofSecond()).at(-1)).toMatchObject({
      position: { canceled: false, secret: "new", order: { code: "SPLIT" } },
      earlierCheckins: [{ id: 5 }],
    });
    expect([await positionsOf("ABCDE"), await positionsOf("SPLIT")]).toEqual([undefined, [[2, false]]]);
  });
});

describe("an order that is removed directly before another brings its position", () => {
  const removal = record("order", { code: "ABCDE" }, { deleted: true });
  const ofSecond = async () => (await published()).filter((fact) => fact["key"] === "org/fest/2");

  it.each([
    ["next to each other", []],
    ["with another record between them", [sample.gate()]],
    ["behind which it comes back", [withoutSecond()]],
  ])("[R3.41, R3.47] leaves it that position with its scans, in one batch: %s", async (_name, between) => {
    expect(await office.apply(removal, ...between, split())).toEqual({});
    expect((await ofSecond()).filter(({ isGone }) => isGone)).toEqual([]);
    await office.apply(split({ email: "ada@example.org" }));
    expect(await ofSecond()).toMatchObject([
      { position: { canceled: false, secret: "new", order: { code: "SPLIT" } }, earlierCheckins: [{ id: 5 }] },
    ]);
    expect(await positionsOf("SPLIT")).toEqual([[2, false]]);
    expect(await positionsOf("ABCDE")).toEqual(between.some(({ kind }) => kind === "order") ? [[1, false]] : undefined);
  });

  it("[R3.41, R3.47] leaves it that position with its scans, where the removed order comes again behind it with that position", async () => {
    const again = sample.order({ positions: [first, second] });
    expect(await office.apply(removal, split(), again)).toEqual({
      3: { "positions.1": ["Position 2 belongs to another order."] },
    });
    expect((await ofSecond()).filter(({ isGone }) => isGone)).toEqual([]);
    await office.apply(split({ email: "ada@example.org" }));
    expect(await ofSecond()).toMatchObject([
      { position: { canceled: false, secret: "new", order: { code: "SPLIT" } }, earlierCheckins: [{ id: 5 }] },
    ]);
    expect([await positionsOf("ABCDE"), await positionsOf("SPLIT")]).toEqual([[[1, false]], [[2, false]]]);
  });

  it.each([
    ["another cannot be stored", [split({ positions: [{ ...second, item: 99 }] })]],
    ["another is removed again", [split(), record("order", { code: "SPLIT" }, { deleted: true })]],
    ["only it comes back, and cannot be stored", [sample.order({ positions: [{ ...second, item: 99 }] })]],
  ])("[R3.41] takes it along where %s", async (_name, behind) => {
    await office.apply(removal, ...behind);
    expect((await ofSecond()).at(-1)).toEqual({ key: "org/fest/2", isGone: true });
    expect([await positionsOf("ABCDE"), await positionsOf("SPLIT")]).toEqual([undefined, undefined]);
    expect(await office.count("position")).toBe(0);
  });

  it("[R3.32, R3.41] releases the seat of that position at once", async () => {
    await office.apply(sample.order({ positions: [position(), { ...second, seat: "stalls-1-1" }] }));
    const seated = sample.order({ code: "OTHER", positions: [position({ id: 3, secret: "3", seat: "stalls-1-1" })] });
    expect(await office.apply(removal, seated, sample.gate(), split())).toEqual({});
    const held = sql`select position.id from position where position.seat is not null and position.taken_as is not null`;
    expect(await office.db.many(held)).toEqual([{ id: 3 }]);
  });
});

describe("a position that two orders bring", () => {
  const day = (number: number) => ({ last_modified: `2026-02-0${number}T10:00:00Z` });
  const claimed = (code: string, changed: number, ids: readonly number[], rest: object = day(changed)) =>
    sample.order({
      code,
      ...rest,
      positions: ids.map((id) => position({ id, positionid: id, secret: `${id}` })),
    });
  const claims = [claimed("A", 2, [11, 12, 14]), claimed("B", 3, [12, 13, 15]), claimed("C", 4, [13, 11, 16])];
  const orderings = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ].flatMap((places) => [[3], [1, 2], [2, 1], [1, 1, 1]].map((sizes) => ({ places, sizes })));

  it.each(orderings)("[R3.40] belongs to the one that was changed last: $places in batches of $sizes", async (plan) => {
    await office.apply(claimed("A", 1, [11, 12, 13, 14]));
    const sent = plan.places.flatMap((place) => claims[place] ?? []);
    for (const size of plan.sizes) await office.apply(...sent.splice(0, size));
    const ends = {
      A: [[14, false]],
      B: [
        [12, false],
        [15, false],
      ],
      C: [
        [13, false],
        [11, false],
        [16, false],
      ],
    };
    const found = async () => ({ A: await positionsOf("A"), B: await positionsOf("B"), C: await positionsOf("C") });
    expect(await found()).toEqual(ends);
    await takeFacts(office.db);
    for (const claim of claims) await office.apply(claim);
    expect([await found(), await published()]).toEqual([ends, []]);
  });

  it("[R3.40] stays where it is while one of them does not say when it was changed", async () => {
    await office.apply(claimed("A", 1, [11]));
    expect(await office.apply(claimed("B", 2, [11, 12], {}))).toEqual({
      1: { "positions.0": ["Position 11 belongs to another order."] },
    });
  });

  const broken = (code: string, changed: number, ids: readonly number[]) =>
    sample.order({
      code,
      ...day(changed),
      positions: ids.map((id, index) =>
        position({ id, positionid: id, secret: `${id}`, ...(index === 0 ? { item: 999 } : {}) }),
      ),
    });

  it.each([
    ["first", [broken("B", 3, [21, 23]), claimed("A", 1, [21, 22])]],
    ["last", [claimed("A", 1, [21, 22]), broken("B", 3, [21, 23])]],
    ["alone", [claimed("A", 1, [21]), broken("B", 3, [21, 23])]],
  ])(
    "[R3.40] belongs to the older order where the newer one brings it in a form that cannot be taken: %s",
    async (_name, batch) => {
      const { rejected } = await office.applyApart(...batch);
      expect(rejected).toEqual({});
      expect((await positionsOf("A"))?.[0]).toEqual([21, false]);
      expect(await positionsOf("B")).toEqual([[23, false]]);
    },
  );

  it("[R3.40] belongs to another order where only the last record of its own in the batch leaves it out", async () => {
    const of = (code: string, ids: readonly number[]) => claimed(code, 1, ids, {});
    await office.apply(of("P", [31, 32]));
    for (const batch of [
      [of("P", [31, 32]), of("Q", [32]), of("P", [31])],
      [of("Q", [32]), of("P", [31, 32]), of("P", [31])],
    ]) {
      await office.apply(record("order", { code: "Q" }, { deleted: true }), of("P", [31, 32]));
      await office.apply(...batch);
      expect([await positionsOf("P"), await positionsOf("Q")]).toEqual([[[31, false]], [[32, false]]]);
    }
  });

  it.each([
    ["none", {}],
    ["a later one", day(9)],
  ])(
    "[R3.40, R5.1] belongs to the same order again where the stored order had another moment: %s",
    async (_name, before) => {
      await office.apply(claimed("A", 0, [41, 42], before));
      const batch = [claimed("B", 5, [41, 43]), claimed("A", 4, [41, 42])];
      for (let time = 0; time < 2; time += 1) {
        await office.apply(...batch);
        expect([await positionsOf("A"), await positionsOf("B")]).toEqual([
          [[42, false]],
          [
            [41, false],
            [43, false],
          ],
        ]);
      }
    },
  );

  it.each([
    ["in one batch", [[claimed("A", 3, [51]), claimed("C", 4, [51])]]],
    ["in two", [[claimed("A", 3, [51])], [claimed("C", 4, [51])]]],
  ])("[R3.40] belongs to the newer order also where the older one has no other, %s", async (_name, batches) => {
    await office.apply(claimed("A", 1, [51], {}));
    for (const batch of batches) expect((await office.applyApart(...batch)).rejected).toEqual({});
    expect([await positionsOf("A"), await positionsOf("C")]).toEqual([[], [[51, false]]]);
    await office.apply(claimed("A", 5, []));
    expect(await positionsOf("C")).toEqual([[51, false]]);
  });

  it("[R3.40, R3.41] is canceled by its order also where all others of that order have gone", async () => {
    await office.apply(claimed("A", 1, [61, 62]));
    await office.apply(claimed("D", 4, [62]));
    expect((await office.applyApart(claimed("A", 2, [62]))).rejected).toEqual({});
    expect([await positionsOf("A"), await positionsOf("D")]).toEqual([[[61, true]], [[62, false]]]);
  });

  it("[R3.40, R5.1] is as it was when a batch with several records of an order comes again", async () => {
    const batch = [claimed("A", 1, [73, 71]), claimed("A", 2, [71]), claimed("C", 4, []), claimed("C", 4, [71])];
    const found = async () => [await positionsOf("A"), await positionsOf("C")];
    await office.apply(...batch);
    const once = await found();
    expect(once).toEqual([[[73, true]], [[71, false]]]);
    await office.apply(...batch);
    expect(await found()).toEqual(once);
  });

  it.each([
    [
      "is canceled with its order",
      () => sample.order({ ...(broken("A", 4, [81]).data as object), status: "c" }),
      [[81, false]],
      [],
    ],
    ["is canceled where the record leaves it out", () => broken("A", 4, [82]), [[81, true]], []],
  ])("[R2.18] of an order in which nothing can be read %s", async (_name, next, positions, taken) => {
    await office.apply(claimed("A", 1, [81, ...(positions.length > 1 ? [82] : [])]));
    expect((await office.applyApart(next())).rejected).toEqual({});
    expect(await positionsOf("A")).toEqual(positions);
    expect(await office.db.many(sql`select id from position where order_code = 'A' and taken_as is not null`)).toEqual(
      taken,
    );
  });

  it("[R2.6, R3.47, R5.1] keeps its scans where a batch with a removal of its order and the order itself comes again", async () => {
    await office.apply(claimed("B", 1, [91]));
    const batch = [
      record("order", { code: "A", ...day(4) }, { deleted: true }),
      sample.order({ code: "A", ...day(5), positions: [position({ id: 91, secret: "91", checkins: [scan] })] }),
      claimed("B", 5, []),
    ];
    await office.apply(...batch);
    await takeFacts(office.db);
    await office.apply(...batch);
    expect(await published()).toEqual([]);
    await office.apply(record("order", { code: "A", ...day(5) }, { deleted: true }));
    expect(await published()).toMatchObject([{ key: "org/fest/91", isGone: true }]);
  });

  it("[R3.40] belongs to an order with a moment where the stored one has none", async () => {
    await office.apply(claimed("A", 1, [95, 96], {}));
    await office.apply(claimed("B", 5, [96]));
    await office.apply(claimed("A", 5, [95]));
    expect([await positionsOf("A"), await positionsOf("B")]).toEqual([[[95, false]], [[96, false]]]);
  });

  const withScan = (code: string, modified: number, id: number) =>
    sample.order({ code, ...day(modified), positions: [position({ id, secret: `${id}`, checkins: [scan] })] });
  const scansOf = async (id: number) =>
    (await published()).filter((fact) => fact["key"] === `org/fest/${id}`).at(-1)?.["earlierCheckins"];

  it.each([
    ["in one batch", (...batch: object[]) => [batch]],
    ["one by one", (...batch: object[]) => batch.map((each) => [each])],
    ["the newer one first", (...batch: object[]) => batch.toReversed().map((each) => [each])],
  ])("[R3.40, R3.46] keeps a scan that only its former order was sent with: %s", async (_name, inBatches) => {
    await office.apply(claimed("A", 1, [97]));
    await takeFacts(office.db);
    for (const batch of inBatches(withScan("A", 2, 97), claimed("B", 3, [97])))
      await office.apply(...(batch as Parameters<typeof office.apply>));
    expect(await scansOf(97)).toMatchObject([{ id: 5 }]);
    expect(await positionsOf("B")).toEqual([[97, false]]);
    await office.apply(withScan("A", 2, 97));
    expect(await published()).toEqual([]);
  });

  it("[R2.6, R3.40] stays with an order whose removal is older than it, in one batch, too", async () => {
    await office.apply(withScan("A", 5, 98));
    await office.apply(claimed("B", 2, [98]), record("order", { code: "A", ...day(3) }, { deleted: true }));
    expect([await positionsOf("A"), await positionsOf("B")]).toEqual([[[98, false]], []]);
  });
});
