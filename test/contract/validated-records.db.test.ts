import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadServices } from "@tessera/cli/services";
import { diskFiles } from "@tessera/engines/files/disk";
import type { Db } from "@tessera/kit/pg/database";
import { EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import type { BroughtEntity } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { RecordOwnerName } from "@tessera/protos/record-kinds";
import { Records } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { startForTest } from "@tessera/testkit/start-for-test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashAllRows, openAllSchemas, readSequences } from "../security/hash-rows.ts";

const place = { organizer: "bigevents", event: "sampleconf" };

interface Sent {
  readonly kind: string;
  readonly data: object;
  readonly deleted?: boolean;
}

const ofOrganizer = new Set(["organizer", "gate", "device", "reusable_medium"]);

const toRecords = (sent: readonly Sent[]) =>
  sent.map(({ kind, data, deleted = false }, index) => ({
    ...{ line: index + 1, kind, ...place, deleted },
    ...(ofOrganizer.has(kind) ? { event: "" } : {}),
    data: Buffer.from(JSON.stringify(data)),
  }));

/** Files are examined meanwhile. */
const patient = { timeoutMs: 60_000 };

const name = { en: "A" };
const event = { slug: "sampleconf", name, currency: "EUR", date_from: "2027-12-27T10:00:00Z" };
const png = `data:image/png;base64,${fileWith("image/png", "a").toString("base64")}`;
const pdf = `data:application/pdf;base64,${fileWith("application/pdf", "a").toString("base64")}`;
const order = (code: string, id: number, more: object = {}) => ({
  kind: "order",
  data: {
    ...{ code, status: "p", datetime: "2027-12-01T10:00:00Z", total: "1.00" },
    positions: [{ id, positionid: 1, item: 1, price: "1.00", secret: `secret-${id}`, ...more }],
  },
});
const token = "token-of-a-device-of-the-tests";
const device = { device_id: 1, token, name: "A", gate: 1, security_profile: "full", all_events: true };

/** What an earlier record of the stream would have brought. */
const brought = (kind: string, key: string, data: object = {}): BroughtEntity => {
  return { kind, ...place, key, names: [], data: JSON.stringify(data) };
};

/** By owner: what is stored before, and what is validated then: changes, removals, and new entities. */
const samples: Readonly<
  Record<
    RecordOwnerName,
    { readonly stored: readonly Sent[]; readonly sent: readonly Sent[]; readonly wrong: number[] }
  >
> = {
  boxoffice: {
    stored: [
      { kind: "organizer", data: { slug: "bigevents", name: "A" } },
      { kind: "event", data: event },
      { kind: "gate", data: { id: 1, name: "A", identifier: "a" } },
      { kind: "device", data: device },
      { kind: "item", data: { id: 1, name, default_price: "1.00" } },
      { kind: "question", data: { id: 1, question: name, type: "F" } },
      { kind: "seat", data: { id: 1, seat_guid: "A-1", product: 1 } },
      order("STORED", 1, { seat: "A-1" }),
    ],
    sent: [
      { kind: "event", data: { ...event, name: { en: "B" } } },
      { kind: "gate", data: { id: 1, name: "B", identifier: "a" } },
      { kind: "device", data: { ...device, token: "another-token-of-a-device" } },
      { kind: "item", data: { id: 900, name, default_price: "1.00", variations: [{ id: 901, value: name }] } },
      { kind: "quota", data: { id: 900, name: "A", size: 1, items: [900], variations: [901] } },
      { kind: "question", data: { id: 900, question: name, type: "F" } },
      { kind: "seat", data: { id: 900, seat_guid: "A-9", product: 900 } },
      order("STORED", 1, { answers: [{ question: 900, answer: png }] }),
      order("NEW", 900, { item: 900, variation: 901, seat: "A-1" }),
      order("WRONG", 901, { item: 999 }),
      { kind: "revoked_secret", data: { id: 900, secret: "a", position: 900 } },
      { kind: "reusable_medium", data: { id: 900, type: "barcode", identifier: "a", linked_orderposition: 900 } },
      { kind: "order", data: { code: "STORED" }, deleted: true },
      { kind: "event", data: { slug: "sampleconf" }, deleted: true },
    ],
    wrong: [10],
  },
  checkin: {
    stored: [{ kind: "checkin_list", data: { id: 1, name: "A", all_products: true } }],
    sent: [
      { kind: "checkin_list", data: { id: 1, name: "B", all_products: false, limit_products: [900] } },
      { kind: "checkin_list", data: { id: 2, name: "C", all_products: true, subevent: 900 } },
      { kind: "checkin_list", data: { id: 3, name: "D", all_products: true, subevent: 901 } },
      { kind: "checkin_list", data: { id: 1 }, deleted: true },
    ],
    wrong: [3],
  },
  voucher: {
    stored: [{ kind: "voucher", data: { id: 1, code: "STORED" } }],
    sent: [
      { kind: "voucher", data: { id: 1, code: "OTHER", max_usages: 2, redeemed: 1, quota: 900 } },
      { kind: "voucher", data: { id: 2, code: "STORED", item: 900, variation: 9000, subevent: 900 } },
      { kind: "voucher", data: { id: 3, code: "BEFORE" } },
      { kind: "voucher", data: { id: 1 }, deleted: true },
    ],
    wrong: [3],
  },
  "layout-and-render": {
    stored: [{ kind: "ticket_layout", data: { id: 1, name: "A", layout: [], default: true } }],
    sent: [
      { kind: "ticket_layout", data: { id: 1, name: "B", layout: [], background: pdf } },
      { kind: "ticket_layout", data: { id: 2, name: "C", layout: [], default: true } },
      { kind: "ticket_layout_item", data: { id: 1, layout: 2, item: 900, sales_channel: "web" } },
      { kind: "ticket_layout_item", data: { id: 2, layout: 3, item: 901, sales_channel: "web" } },
      { kind: "ticket_layout", data: { id: 1 }, deleted: true },
    ],
    wrong: [4],
  },
};

describe.each(Object.entries(samples))("records that %s validates", (owner, { stored, sent, wrong }) => {
  let database: TestDatabase;
  let directory: string;
  let db: Db;
  let definition: Awaited<ReturnType<typeof loadServices>>[number];
  beforeEach(async () => {
    const [loaded] = await loadServices([owner]);
    if (loaded === undefined) throw new Error(`there is no ${owner}`);
    definition = loaded;
    database = await createTestDatabase([definition]);
    directory = await mkdtemp(join(tmpdir(), "tessera-validated-"));
    db = openAllSchemas(database.url);
  });
  afterEach(async () => {
    await db.close();
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  async function start() {
    const service = await startForTest(definition, {
      db: database.open(definition.schema),
      files: diskFiles({ directory }),
    });
    const event = { ...EventChanged.decode(new Uint8Array()), ...place, revision: 1 };
    if (owner !== "boxoffice") await service.deliver(topics.eventChanged, [event]);
    return service.connect(Records);
  }

  it("[R7.20] change no row, no sequence and no file", async () => {
    const records = await start();
    expect((await records.applyRecords({ records: toRecords(stored) }, patient)).rejected).toEqual([]);
    const read = async () => [await hashAllRows(db), await readSequences(db), await readdir(directory)];
    const before = await read();
    const known = [
      brought("event", "sampleconf", { isSeries: true }),
      brought("item", "900", { variations: [9000] }),
      brought("subevent", "900"),
      brought("quota", "900"),
      brought("voucher", "900", { code: "BEFORE" }),
    ];
    const request = { records: toRecords(sent), before: owner === "boxoffice" ? [] : known };
    const { outcome } = await records.validateRecords(request, patient);
    expect(outcome?.rejected.map(({ line }) => line)).toEqual(wrong);
    expect(outcome?.warned).toBeUndefined();
    expect(await read()).toEqual(before);
    await records.applyRecords({ records: toRecords(sent) }, patient);
    expect(await read()).not.toEqual(before);
  });
});
