import type { Reads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { DocumentKind, type ListDocumentsRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import { isObject } from "@tessera/values";
import { beforeEach, describe, expect, it } from "vitest";
import { noteDocumentsChanged } from "../store/document-changes.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { emptyOffice } from "../testing/empty-office.ts";
import { position, record, sample } from "../testing/records.ts";
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
const inSeries = <T extends object>(test: T) => ({ ...test, event: "series" });
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

  it("[E1.14] are on a shorter page where they are large, and the next one goes on behind it", async () => {
    const languages = Array.from({ length: 100 }, (_, index) => [`x${index}`, "ä".repeat(5000)]);
    const ids = Array.from({ length: 12 }, (_, index) => index + 10);
    const categories = ids.map((id) => sample.category({ id, description: Object.fromEntries(languages) }));
    await office.apply(...categories.map(inSeries));
    const read: unknown[] = [];
    let pages = 0;
    for (let asked: Partial<ListDocumentsRequest> | undefined = {}; asked !== undefined; ) {
      const { documents, next, page, count } = await list(DocumentKind.CATEGORY, { event: "series", ...asked });
      pages += 1;
      expect([page, count]).toEqual([pages, ids.length]);
      expect(Buffer.byteLength(JSON.stringify(documents))).toBeLessThan(5 * 2 ** 20);
      read.push(...documents.map(({ data }) => (isObject(data) ? data["id"] : undefined)));
      asked = next?.cursor === undefined ? undefined : { page: page + 1, cursor: next.cursor };
    }
    expect(read).toEqual(ids);
    expect(pages).toBeGreaterThan(2);
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

  it("[E1.13] of an event have a time zone: its own, that of its settings, or UTC", async () => {
    const zones = async () => [
      (await get(DocumentKind.EVENT))["timezone"],
      (await list(DocumentKind.EVENT)).documents.map(({ data }) => (data as { timezone: string }).timezone)[0],
    ];
    await office.apply(sample.event({ timezone: null }));
    expect(await zones()).toEqual(["UTC", "UTC"]);
    await office.apply(sample.eventSettings({ timezone: "Europe/Paris" }));
    expect(await zones()).toEqual(["Europe/Paris", "Europe/Paris"]);
    await office.apply(sample.event({ timezone: "Europe/Berlin" }));
    expect(await zones()).toEqual(["Europe/Berlin", "Europe/Berlin"]);
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
    await office.apply(sample.event({ name: { en: "Rock’n’Roll – Festival" } }));
    for (const search of ["rock'n'roll", "Rockʼnʼroll\u00a0\u2011 f"])
      expect([search, await idsOf(DocumentKind.EVENT, { ...all, search })]).toEqual([search, ["fest"]]);
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

it("[E1.8] media are those of the tickets of the events that the caller may know of", async () => {
  const linked = (id: number, ...links: object[]) =>
    sample.medium({ id, identifier: `M${id}`, linked_orderpositions: links });
  await office.apply(
    sample.order({ positions: [position({ id: 21, secret: "21" })] }),
    { ...sample.item({ id: 1 }), event: "series" },
    {
      ...sample.order({ code: "OTHER", positions: [position({ id: 22, secret: "22", subevent: 1 })] }),
      event: "series",
    },
    linked(5, { id: 21, event: "fest" }),
    linked(6, { id: 22, event: "series" }),
    linked(7, { id: 21, event: "fest" }, { id: 22, event: "series" }),
  );
  const all = { event: "" };
  expect(await idsOf(DocumentKind.REUSABLE_MEDIUM, all)).toEqual([4, 5, 6, 7]);
  expect(await idsOf(DocumentKind.REUSABLE_MEDIUM, { ...all, among: { slugs: ["fest"] } })).toEqual([5, 7]);
  expect(await idsOf(DocumentKind.REUSABLE_MEDIUM, { ...all, among: { slugs: [] } })).toEqual([]);
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

  it("[E1.9] is not missed where it is new, and its transaction began before the answer", async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = office.db.transaction(async (tx) => {
      await tx.run(sql`select`);
      begun.resolve();
      await goOn.promise;
      await takeLocks(tx, locksOf([{ organizer: "org", event: "series" }]));
      await tx.run(sql`
        insert into subevent (organizer, event, id, data, revision)
        select organizer, event, 4, data || '{"id": 4}', revision from subevent where id = 3`);
    });
    await begun.promise;
    const { asOf } = await dates();
    goOn.resolve();
    await slow;
    expect(await dates({ changedSince: asOf })).toMatchObject({ count: 1, documents: [{ data: { id: 4 } }] });
  });

  it("an unchanged record is no change", async () => {
    const stamp = () => office.db.many(sql`select changed_at from subevent order by id`);
    const before = await stamp();
    await office.apply(date(1, "2026-08-03"));
    expect(await stamp()).toEqual(before);
  });
});

describe("the time of the last change", () => {
  const { CATEGORY, ITEM, QUESTION, SUBEVENT } = DocumentKind;
  const place = (kind: DocumentKind) => ({ event: kind === SUBEVENT ? "series" : "fest" });
  const told = async (kind: DocumentKind, knownAsOf?: number) => {
    const { changedAt, isUnchanged, count } = await list(kind, { ...place(kind), knownAsOf });
    return { changedAt, isUnchanged, count };
  };
  const stored = async () =>
    (await office.db.one<{ at: number }>(sql`select max(changed_at) as at from document_change`)).at;
  /** Sets the times back, as if everything had happened a minute earlier. */
  const aMinuteLater = () =>
    office.db.run(sql`update document_change set changed_at = changed_at - interval '1 minute'`);
  const second = 1_000_000;

  it.each([
    ["category", CATEGORY, sample.category],
    ["item", ITEM, sample.item],
    ["question", QUESTION, sample.question],
    ["subevent", SUBEVENT, sample.subevent],
  ] as const)(
    "[E1.10] of every %s moves when one is created, changed or deleted, and with nothing else",
    async (...each) => {
      const [name, kind, make] = each;
      const of = (made: ReturnType<typeof record>) => ({ ...made, ...place(kind) });
      const options = kind === QUESTION ? { options: [] } : {};
      const steps = [
        of(make({ id: 30, ...options })),
        of(make({ id: 30, ...options, [kind === QUESTION ? "question" : "name"]: { en: "Another" } })),
        of(record(name, { id: 30 }, { deleted: true })),
      ];
      for (const step of steps) {
        await aMinuteLater();
        const { changedAt } = await told(kind);
        expect(changedAt).toBeDefined();
        expect(await told(kind, changedAt)).toMatchObject({ isUnchanged: true, changedAt });
        await office.apply(step);
        expect(await told(kind, changedAt)).toMatchObject({ isUnchanged: false });
        expect(await stored()).toBeGreaterThan(changedAt ?? 0);
      }
      await aMinuteLater();
      const { changedAt } = await told(kind);
      await office.apply(of(record(name, { id: 30 }, { deleted: true })), of(sample.taxRule({ id: 4 })), {
        ...sample.item({ id: 90 }),
        event: kind === SUBEVENT ? "fest" : "series",
      });
      expect(await told(kind, changedAt)).toMatchObject({ isUnchanged: true, changedAt });
      expect((await told(kind, (changedAt ?? 0) - second)).isUnchanged).toBe(false);
    },
  );

  it("[E1.10] is told when its second is over, so changes within a second are not missed", async () => {
    await aMinuteLater();
    const known = (await told(CATEGORY)).changedAt ?? 0;
    for (const name of ["one", "two", "three"]) {
      const before = await stored();
      await office.apply(sample.category({ id: 7, name: { en: name } }));
      const after = await stored();
      expect(after % second).toBe(0);
      expect(after).toBeGreaterThan(before);
      expect(after).toBeGreaterThan(Date.now() * 1000 - 5 * second);
      expect(await told(CATEGORY, known)).toMatchObject({ isUnchanged: false });
    }
    // The last of these times is in the future: no state may be known by it yet.
    expect(await told(CATEGORY, Number.MAX_SAFE_INTEGER)).toMatchObject({ changedAt: undefined, isUnchanged: false });
  });

  it("[E1.10] moves for what was being stored while a client was answered", async () => {
    await aMinuteLater();
    const written = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = office.db.transaction(async (tx) => {
      await takeLocks(tx, locksOf([{ organizer: "org", event: "fest" }]));
      await noteDocumentsChanged(tx, "category", { organizer: "org", event: "fest" });
      await tx.run(sql`update category set changed_at = clock_timestamp() where id = 7`);
      written.resolve();
      await goOn.promise;
    });
    await written.promise;
    const { changedAt } = await told(CATEGORY);
    expect(changedAt).toBeDefined();
    goOn.resolve();
    await slow;
    expect(await told(CATEGORY, changedAt)).toMatchObject({ isUnchanged: false });
  });

  it("[E1.10] never lets a client keep an earlier state, however changes and answers meet", async () => {
    const clients = [1, 2, 3].map(() => ({ known: undefined as number | undefined, shown: "", unchanged: 0 }));
    const ask = async (client: (typeof clients)[number]) => {
      const { isUnchanged, changedAt, documents } = await list(CATEGORY, { knownAsOf: client.known });
      if (isUnchanged) client.unchanged += 1;
      else Object.assign(client, { known: changedAt, shown: JSON.stringify(documents) });
    };
    let isOver = false;
    const asking = clients.map(async (client) => {
      while (!isOver) await ask(client);
    });
    for (const turn of [1, 2]) {
      const named = (name: string) => sample.category({ id: 7, name: { en: `${name} in turn ${turn}` } });
      await Promise.all([office.apply(named("one")), office.apply(sample.category({ id: 8 + turn }))]);
      await office.apply(turn === 1 ? record("category", { id: 9 }, { deleted: true }) : named("another"));
      for (const client of clients) client.unchanged = 0;
      await expect.poll(() => clients.every(({ unchanged }) => unchanged > 0)).toBe(true);
      const last = JSON.stringify((await list(CATEGORY)).documents);
      expect(clients.map(({ shown }) => shown)).toEqual([last, last, last]);
    }
    isOver = true;
    await Promise.all(asking);
  });

  it("[E1.10] moves once with a batch, is not known before the first change, and never for all events together", async () => {
    await office.apply({ ...sample.event({ slug: "new" }), event: "new" });
    expect(await list(CATEGORY, { event: "new", knownAsOf: Number.MAX_SAFE_INTEGER })).toMatchObject({
      changedAt: undefined,
      isUnchanged: false,
    });
    await office.apply(...[1, 2, 3].map((id) => ({ ...sample.category({ id }), event: "new" })));
    expect(await stored()).toBeLessThan(Date.now() * 1000 + 2 * second);
    await aMinuteLater();
    for (const kind of [SUBEVENT, DocumentKind.EVENT])
      expect(await list(kind, { event: "", knownAsOf: Number.MAX_SAFE_INTEGER })).toMatchObject({
        changedAt: undefined,
        isUnchanged: false,
      });
  });

  it("an event that comes again has a later one than the removed event told", async () => {
    await aMinuteLater();
    const known = (await told(CATEGORY)).changedAt;
    await office.apply({ ...record("event", { slug: "fest" }, { deleted: true }), event: "fest" });
    await office.apply(sample.event());
    await office.apply(sample.category({ id: 7 }));
    expect(await told(CATEGORY, known)).toMatchObject({ isUnchanged: false });
    expect(await stored()).toBeGreaterThan(known ?? 0);
  });
});
