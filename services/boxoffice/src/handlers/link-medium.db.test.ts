import { sql } from "@tessera/kit/pg/sql";
import { type LinkMediumRequest, MediumLink } from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import { firstIdMadeHere } from "@tessera/values";
import { beforeEach, expect, it } from "vitest";
import { deleted, emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, sample } from "../testing/records.ts";
import { linkMedium } from "./link-medium.ts";

const office = emptyOffice();

const numbered = (id: number) => position({ id, positionid: id, secret: `secret-${id}` });

beforeEach(async () => {
  const other = [sample.event({ slug: "other" }), sample.item(), sample.order({ positions: [numbered(3)] })];
  expect(
    await office.apply(
      ...festival,
      ...other.map((sent) => ({ ...sent, event: "other" })),
      sample.order({ positions: [1, 2].map(numbered) }),
    ),
  ).toEqual({});
  await takeFacts(office.db);
});

const code = { type: "nfc_uid", identifier: "04AB" };

async function link(ticket: number, changes: Partial<LinkMediumRequest> = {}): Promise<MediumLink> {
  const request = { organizer: "org", event: "fest", position: ticket, ...code, policy: "new", ...changes };
  return (await linkMedium(request, { db: office.db })).result;
}

const media = () =>
  office.db.many<{ id: number; identifier: string; links: unknown }>(sql`
    select id, identifier, data -> 'linked_orderpositions' as links from reusable_medium order by id`);
const linksOf = async () => (await media()).map(({ links }) => links);
const ofFest = (...ids: number[]) => ids.map((id) => ({ event: "fest", id }));

it("[E8.5, E8.6] makes a medium with an id that no record has, once, and tells of it", async () => {
  expect(await link(1)).toBe(MediumLink.LINKED);
  const [made, ...others] = await media();
  expect([made?.id, others]).toEqual([expect.any(Number), []]);
  expect(made?.id).toBeGreaterThanOrEqual(firstIdMadeHere);
  const fact = { ...code, active: true, id: made?.id, linkedPositions: ofFest(1) };
  expect(await takeFacts(office.db)).toMatchObject([{ topic: "reusable-medium-changed", value: fact }]);
  expect(await link(1)).toBe(MediumLink.LINKED);
  expect([await media(), await takeFacts(office.db)]).toEqual([[made], []]);
});

it("[E8.4] of many tickets that come at once for one new medium one gets it", async () => {
  const results = await Promise.all([1, 2, 1, 2, 1, 2].map((ticket) => link(ticket)));
  expect(new Set(results.filter((_, index) => index % 2 === 0)).size).toBe(1);
  expect(results.toSorted()).toEqual([
    ...[1, 1, 1].map(() => MediumLink.EXISTS),
    ...[1, 1, 1].map(() => MediumLink.LINKED),
  ]);
  expect(await media()).toHaveLength(1);
});

it("[E8.3] of many media that come at once for one ticket it gets one", async () => {
  const results = await Promise.all(["A", "B", "C", "D"].map((identifier) => link(1, { identifier })));
  expect(results.filter((result) => result === MediumLink.LINKED)).toHaveLength(1);
  expect(results.filter((result) => result === MediumLink.OTHER)).toHaveLength(3);
  expect(await linksOf()).toEqual([ofFest(1)]);
  expect(await link(1, { type: "barcode" })).toBe(MediumLink.LINKED);
});

it("[E8.4] reuses a medium that is in use, beside its tickets of other events", async () => {
  expect(await link(1, { policy: "reuse" })).toBe(MediumLink.INVALID);
  await office.apply(sample.medium({ linked_orderpositions: [{ event: "other", id: 3 }] }));
  expect(await link(1)).toBe(MediumLink.EXISTS);
  expect(await link(1, { policy: "reuse" })).toBe(MediumLink.LINKED);
  expect(await linksOf()).toEqual([[{ event: "other", id: 3 }, ...ofFest(1)]]);
});

it.each(["reuse", "reuse_or_new"])(
  "[E8.4] with the policy %s hands out no medium that another ticket of the event has, until that is canceled",
  async (policy) => {
    await office.apply(sample.medium());
    expect(await link(1, { policy })).toBe(MediumLink.LINKED);
    expect(await link(2, { policy })).toBe(MediumLink.EXISTS);
    expect(await link(1, { policy })).toBe(MediumLink.LINKED);
    expect(await linksOf()).toEqual([ofFest(1)]);
    await office.apply(sample.order({ positions: [{ ...numbered(1), canceled: true }, numbered(2)] }));
    expect(await link(2, { policy })).toBe(MediumLink.LINKED);
    expect(await linksOf()).toEqual([ofFest(1, 2)]);
  },
);

it("[E8.4] hands out a medium for tickets of several dates", async () => {
  const series = [
    sample.event({ slug: "series", has_subevents: true }),
    sample.item(),
    ...[1, 2].map((id) => sample.subevent({ id })),
    sample.order({ positions: [1, 2, 3].map((id) => ({ ...numbered(id + 10), subevent: id === 3 ? 2 : id })) }),
    sample.medium(),
  ];
  expect(await office.apply(...series.map((sent) => ({ ...sent, event: "series" })))).toEqual({});
  const ofSeries = (id: number) => link(id, { event: "series", policy: "reuse" });
  expect([await ofSeries(11), await ofSeries(12), await ofSeries(13)]).toEqual([
    ...[MediumLink.LINKED, MediumLink.LINKED],
    MediumLink.EXISTS,
  ]);
});

it.each([
  ["its own code", "secret-1"],
  ["the code of another", "secret-2"],
  ["a code that a scan finds with a blank", "with+blank"],
])("[E8.4] a ticket is not exchanged for %s", async (_what, identifier) => {
  await office.apply(sample.order({ code: "BLANK", positions: [{ ...numbered(9), secret: "with blank" }] }));
  expect(await link(1, { identifier, policy: "new" })).toBe(MediumLink.INVALID);
  expect(await office.apply(sample.medium({ identifier }))).toEqual({});
  expect(await link(1, { identifier, policy: "reuse" })).toBe(MediumLink.INVALID);
  expect(await linksOf()).toEqual([[]]);
  await office.apply({ ...sample.item(), event: "other" });
  expect(await link(3, { event: "other", identifier, policy: "reuse" })).toBe(MediumLink.LINKED);
});

it.each([{ active: false }, { expires: "2020-01-01T00:00:00Z" }])("[E8.4] reuses no medium of %o", async (unused) => {
  await office.apply(sample.medium(unused));
  expect([await link(1, { policy: "reuse_or_new" }), await linksOf()]).toEqual([MediumLink.INVALID, [[]]]);
});

it("[E8.7] a later record of a medium keeps the tickets that were exchanged for it, and goes with them", async () => {
  await office.apply(sample.medium());
  await link(1, { policy: "reuse" });
  expect(await office.apply(sample.medium({ notes: "new", linked_orderpositions: [3] }))).toEqual({});
  expect(await linksOf()).toEqual([[{ event: "other", id: 3 }, ...ofFest(1)]]);
  expect(await office.apply(deleted("reusable_medium", { id: 1 }), sample.medium())).toEqual({});
  expect(await linksOf()).toEqual([[]]);
});

it("[E8.9] what was exchanged for tickets of an event ends with it, and for others stays", async () => {
  await office.apply(sample.medium({ linked_orderpositions: [{ event: "fest", id: 2 }] }));
  expect(await link(3, { event: "other", policy: "reuse" })).toBe(MediumLink.LINKED);
  expect(await link(1, { identifier: "made" })).toBe(MediumLink.LINKED);
  await takeFacts(office.db);
  expect(await office.apply(deleted("event", { slug: "fest" }))).toEqual({});
  // The link that the record of the medium brought is for the shop to take back.
  const left = [
    { event: "fest", id: 2 },
    { event: "other", id: 3 },
  ];
  expect(await linksOf()).toEqual([left, []]);
  expect((await takeFacts(office.db)).filter(({ topic }) => topic === "reusable-medium-changed")).toMatchObject([
    { value: { identifier: "made", linkedPositions: [] } },
  ]);
  await office.apply(...festival, sample.order({ positions: [numbered(1)] }));
  expect(await linksOf()).toEqual([left, []]);
  expect(await office.apply(sample.medium())).toEqual({});
  expect(await linksOf()).toEqual([[{ event: "other", id: 3 }], []]);
});

it("[E8.7] a record of a medium that was made here is refused", async () => {
  await link(1);
  const [made] = await media();
  expect(await office.apply(sample.medium({ id: 7 }), sample.medium({ id: made?.id, identifier: "X" }))).toEqual({
    1: { identifier: [expect.stringContaining(String(made?.id))] },
    2: { id: [expect.stringContaining("made here")] },
  });
  expect(await linksOf()).toEqual([ofFest(1)]);
});

it.each([
  ["another event", { event: "other" }],
  ["another organizer", { organizer: "rival" }],
  ["no event", { event: "none" }],
])("[E8.5] a ticket of %s does not exist", async (_where, place) => {
  const rival = [sample.organizer({ slug: "rival" }), sample.event(), sample.item()];
  await office.apply(...rival.map((each) => ({ ...each, organizer: "rival" })));
  await expect(link(1, place)).rejects.toMatchObject({ code: "order_position_not_found" });
  expect(await media()).toEqual([]);
});

it("[E8.5] a medium of another organizer has nothing to do with one of this", async () => {
  const rival = [sample.organizer({ slug: "rival" }), sample.medium()];
  await office.apply(...rival.map((each) => ({ ...each, organizer: "rival" })));
  expect(await link(1)).toBe(MediumLink.LINKED);
  expect(await media()).toHaveLength(2);
});
