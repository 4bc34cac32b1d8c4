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

it("[E8.4] reuses a medium that is in use, beside its other tickets", async () => {
  expect(await link(1, { policy: "reuse" })).toBe(MediumLink.INVALID);
  await office.apply(sample.medium({ linked_orderpositions: [{ event: "other", id: 3 }] }));
  expect(await link(1)).toBe(MediumLink.EXISTS);
  expect(await link(1, { policy: "reuse" })).toBe(MediumLink.LINKED);
  expect(await link(2, { policy: "reuse_or_new" })).toBe(MediumLink.LINKED);
  expect(await linksOf()).toEqual([[{ event: "other", id: 3 }, ...ofFest(1, 2)]]);
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
