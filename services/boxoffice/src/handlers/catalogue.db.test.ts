import type { Reads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { DocumentKind, type ListDocumentsRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import { isObject } from "@tessera/values";
import { beforeEach, describe, expect, it } from "vitest";
import { locksOf, takeLocks } from "../store/locks.ts";
import { emptyOffice } from "../testing/empty-office.ts";
import { record, sample } from "../testing/records.ts";
import { getDocument, listDocuments } from "./catalogue.ts";

const office = emptyOffice();
const deps = {
  get reads(): Reads {
    return { inTurn: (_party: string, read: (db: never) => unknown) => read(office.db as never) } as unknown as Reads;
  },
};

const list = async (kind: DocumentKind, asked: Partial<ListDocumentsRequest> = {}) => {
  const request = { organizer: "org", event: "fest", page: 1, pageSize: 50, ordering: [], ...asked, kind };
  const { documents, ...rest } = await listDocuments(request, deps);
  return { ...rest, documents: documents.map(({ event, json }) => ({ event, data: JSON.parse(String(json)) })) };
};
const idsOf = async (...asked: Parameters<typeof list>) =>
  (await list(...asked)).documents.map(({ event, data }) => (isObject(data) ? (data["slug"] ?? data["id"]) : event));
const get = async (kind: DocumentKind, asked: { event?: string; organizer?: string; id?: number } = {}) => {
  const { document } = await getDocument({ organizer: "org", event: "fest", ...asked, kind }, deps);
  return JSON.parse(String(document?.json)) as Record<string, unknown>;
};

const series = (rest: object = {}) =>
  sample.event({ slug: "series", has_subevents: true, live: true, date_from: "2026-01-01T00:00:00Z", ...rest });
const inSeries = (test: ReturnType<typeof sample.subevent>) => ({ ...test, event: "series" });
const date = (id: number, day: string, rest: object = {}) =>
  inSeries(sample.subevent({ id, date_from: `${day}T18:00:00Z`, ...rest }));

beforeEach(async () => {
  await office.apply(sample.organizer(), sample.event({ date_to: "2026-07-02T00:00:00Z" }), {
    ...series(),
    event: "series",
  });
  await office.apply(
    sample.item({ id: 3, position: 1 }),
    sample.item({ id: 1, position: 2, active: false }),
    sample.item({ id: 2, position: 1 }),
    sample.category({ id: 7 }),
    sample.question({ id: 5, options: [] }),
    sample.revokedSecret({ id: 9 }),
    sample.blockedSecret({ id: 8 }),
    sample.medium({ id: 4 }),
    date(1, "2026-08-03"),
    date(2, "2026-08-01", { name: { en: "Opening Night", de: "Eröffnung" } }),
    date(3, "2026-08-02", { active: false }),
  );
});

describe("documents", () => {
  it("[E1.1] are paged in the order of their places, or as asked", async () => {
    expect(await idsOf(DocumentKind.ITEM)).toEqual([2, 3, 1]);
    expect(await idsOf(DocumentKind.ITEM, { ordering: ["-id"] })).toEqual([3, 2, 1]);
    expect(await idsOf(DocumentKind.ITEM, { ordering: ["nonsense", "id"] })).toEqual([1, 2, 3]);
    expect(await list(DocumentKind.ITEM, { page: 2, pageSize: 2 })).toMatchObject({
      count: 3,
      page: 2,
      documents: [{ data: { id: 1 } }],
    });
    await expect(list(DocumentKind.ITEM, { page: 3, pageSize: 2 })).rejects.toMatchObject({ code: "page_not_found" });
    expect(await idsOf(DocumentKind.ITEM, { active: true })).toEqual([2, 3]);
    expect(await idsOf(DocumentKind.SUBEVENT, { event: "series" })).toEqual([2, 3, 1]);
  });

  it.each([
    ["category", DocumentKind.CATEGORY, 7],
    ["question", DocumentKind.QUESTION, 5],
    ["revoked secret", DocumentKind.REVOKED_SECRET, 9],
    ["blocked secret", DocumentKind.BLOCKED_SECRET, 8],
  ])("[E1.2] belong to their event alone: %s", async (_name, kind, id) => {
    expect(await idsOf(kind)).toEqual([id]);
    expect(await idsOf(kind, { event: "series" })).toEqual([]);
    expect(await idsOf(kind, { organizer: "other" })).toEqual([]);
    await expect(get(kind, { event: "series", id })).rejects.toMatchObject({ kind: "not_found" });
  });

  it("[E1.3] are whole, with the defaults of what was not sent, and without notes of what could not be read", async () => {
    expect(await get(DocumentKind.CATEGORY, { id: 7 })).toEqual({
      ...{ id: 7, name: { en: "Tickets" }, internal_name: null, description: null, position: 0, is_addon: false },
    });
    await office.apply(sample.item({ id: 6, default_price: [] }));
    expect(await get(DocumentKind.ITEM, { id: 6 })).not.toHaveProperty("unread");
    expect((await list(DocumentKind.ITEM)).documents.map(({ data }) => Object.keys(data as object))).not.toContain(
      "unread",
    );
  });

  it("[E1.4] of settings have all defaults", async () => {
    expect(await get(DocumentKind.EVENT_SETTINGS)).toMatchObject({ locale: "en", ticket_secret_length: 32 });
    await office.apply(sample.eventSettings({ locale: "de" }));
    expect(await get(DocumentKind.EVENT_SETTINGS)).toMatchObject({ locale: "de", ticket_secret_length: 32 });
    await expect(get(DocumentKind.EVENT_SETTINGS, { event: "none" })).rejects.toMatchObject({ kind: "not_found" });
  });
});

describe("events and dates of an organizer", () => {
  const all = { event: "" };

  it("[E1.5] are those that the caller may know of", async () => {
    expect(await idsOf(DocumentKind.EVENT, all)).toEqual(["series", "fest"]);
    expect(await idsOf(DocumentKind.EVENT, { ...all, among: { slugs: ["fest"] } })).toEqual(["fest"]);
    expect(await idsOf(DocumentKind.SUBEVENT, { ...all, among: { slugs: ["fest"] } })).toEqual([]);
    expect(await idsOf(DocumentKind.SUBEVENT, { ...all, among: { slugs: [] } })).toEqual([]);
    expect(await idsOf(DocumentKind.SUBEVENT, all)).toEqual([2, 3, 1]);
    expect(await idsOf(DocumentKind.EVENT, { ...all, organizer: "other" })).toEqual([]);
  });

  it("[E1.6] are found by what is asked of them", async () => {
    expect(await idsOf(DocumentKind.EVENT, { ...all, live: true })).toEqual(["series"]);
    expect(await idsOf(DocumentKind.EVENT, { ...all, search: "FESTI" })).toEqual(["series", "fest"]);
    expect(await idsOf(DocumentKind.EVENT, { ...all, search: "series" })).toEqual(["series"]);
    expect(await idsOf(DocumentKind.SUBEVENT, { ...all, search: "erÖFF" })).toEqual([2]);
    expect(await idsOf(DocumentKind.SUBEVENT, { ...all, search: "%" })).toEqual([]);
    expect(await idsOf(DocumentKind.SUBEVENT, { ...all, active: true, live: true })).toEqual([2, 1]);
    expect(await idsOf(DocumentKind.SUBEVENT, { ...all, live: false })).toEqual([]);
    const from = (day: string) => Date.parse(`${day}T18:00:00Z`) * 1000;
    expect(await idsOf(DocumentKind.SUBEVENT, { ...all, endsAfter: from("2026-08-02") })).toEqual([3, 1]);
    expect(await idsOf(DocumentKind.EVENT, { ...all, endsAfter: from("2026-08-03") })).toEqual(["series"]);
    expect(await idsOf(DocumentKind.EVENT, { ...all, endsAfter: from("2026-08-03") + 1 })).toEqual([]);
  });

  it("[E1.7] are gone with a removal of their event", async () => {
    await office.apply({ ...record("event", { slug: "series" }, { deleted: true }), event: "series" });
    expect(await idsOf(DocumentKind.EVENT, all)).toEqual(["fest"]);
    expect(await idsOf(DocumentKind.SUBEVENT, all)).toEqual([]);
  });

  it("[E1.8] media belong to the organizer, and are found by type and identifier", async () => {
    expect(await idsOf(DocumentKind.REUSABLE_MEDIUM, all)).toEqual([4]);
    expect(await idsOf(DocumentKind.REUSABLE_MEDIUM, { ...all, type: "nfc_uid", identifier: "04AB" })).toEqual([4]);
    expect(await idsOf(DocumentKind.REUSABLE_MEDIUM, { ...all, type: "barcode" })).toEqual([]);
    await office.apply(sample.gate({ id: 3 }), sample.gate({ id: 2, name: "Zoo" }));
    expect(await idsOf(DocumentKind.GATE, all)).toEqual([2, 3]);
    expect(await idsOf(DocumentKind.GATE, { ...all, ordering: ["-name"] })).toEqual([2, 3]);
    expect(await idsOf(DocumentKind.GATE, { ...all, organizer: "other" })).toEqual([]);
    expect(await idsOf(DocumentKind.REUSABLE_MEDIUM, { ...all, organizer: "other" })).toEqual([]);
  });
});

describe("what has changed", () => {
  const dates = (asked: Partial<ListDocumentsRequest> = {}) =>
    list(DocumentKind.SUBEVENT, { event: "series", ordering: ["-last_modified"], ...asked });

  it("[E1.9] since an answer is told once", async () => {
    const { asOf } = await dates();
    await office.apply(date(1, "2026-08-09"));
    const next = await dates({ changedSince: asOf });
    expect(next).toMatchObject({ count: 1, documents: [{ data: { id: 1 } }] });
    expect(await dates({ changedSince: next.asOf })).toMatchObject({ count: 0 });
  });

  it.each([
    ["of its event", { event: "series" }],
    ["of all events", { event: "" }],
  ])("[E1.9] is not missed where it was being written while an answer was made: %s", async (_name, asked) => {
    await office.apply(sample.event({ slug: "fest", date_to: "2026-07-09T00:00:00Z" }));
    const written = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = office.db.transaction(async (tx) => {
      await takeLocks(tx, locksOf([{ organizer: "org", event: "series" }]));
      await tx.run(sql`update subevent set changed_at = clock_timestamp() where id = 3`);
      written.resolve();
      await goOn.promise;
    });
    await written.promise;
    const answers = [await dates(asked), await dates(asked)];
    goOn.resolve();
    await slow;
    for (const { asOf } of answers) {
      const { documents } = await dates({ ...asked, changedSince: asOf });
      expect(documents.map(({ data }) => (data as { id: number }).id)).toContain(3);
    }
    expect((await dates({ ...asked, changedSince: (await dates(asked)).asOf })).count).toBe(0);
  });

  it("an unchanged record is no change", async () => {
    const stamp = () => office.db.many(sql`select changed_at from subevent order by id`);
    const before = await stamp();
    await office.apply(date(1, "2026-08-03"));
    expect(await stamp()).toEqual(before);
  });
});
