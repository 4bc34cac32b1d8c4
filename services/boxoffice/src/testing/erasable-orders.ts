import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { systemClock } from "@tessera/kit/clock";
import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { collect } from "@tessera/testkit/files-contract";
import { startForTest } from "@tessera/testkit/start-for-test";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { boxoffice } from "../index.ts";
import { keyOfFile } from "../records/answer-file.ts";
import { type BoxOffice, boxOfficeOn } from "./box-office.ts";
import { takeFacts } from "./facts.ts";
import { position, sample, type TestRecord } from "./records.ts";

export const place = { organizer: "org", event: "fest" };
export const everyKind = ["attendee_info", "order_emails", "phone_numbers", "invoice_addresses", "question_answers"];
export const address = { company: "Example Ltd", street: "1 Road", zipcode: "12345", city: "Town" };
export const ada = {
  attendee_name: "Ada Quill",
  attendee_name_parts: { full_name: "Ada Quill" },
  attendee_email: "ada@example.org",
  ...{ ...address, country: "DE", state: "BE" },
};
const photo = `data:image/png;base64,${fileWith("image/png", "ada").toString("base64")}`;
export const answers = [
  { question: 1, answer: photo, file_name: "ada.png", question_identifier: "PHOTO" },
  { question: 2, answer: "vegan", question_identifier: "DIET" },
];

/** An order of two tickets, the second canceled, with everything that can be erased. */
export const order = (changes: object = {}, at: object = {}): TestRecord => ({
  ...sample.order({
    code: "FULL",
    email: "buyer@example.org",
    phone: "+4930123456",
    customer: "C1",
    invoice_address: { name: "Ada Quill", ...address, country: "DE" },
    positions: [
      position({ id: 1, ...ada, answers }),
      position({ id: 2, positionid: 2, secret: "second", canceled: true, ...ada }),
    ],
    ...changes,
  }),
  ...at,
});
export const bare = order({
  code: "BARE",
  ...{ email: null, phone: null, customer: null, invoice_address: null },
  positions: [position({ id: 3, secret: "third" })],
});

interface StoredOrder extends Record<string, unknown> {
  readonly positions: Record<string, unknown>[];
}

/** Two events, each with an order of which everything can be erased, one with a bare order, too. */
export interface ErasableOrders {
  readonly db: Db;
  readonly files: Files;
  readonly service: Awaited<ReturnType<typeof startForTest>>;
  apply: BoxOffice["apply"];
  /** Applies valid records. */
  take(...records: TestRecord[]): Promise<void>;
  documentOf(code?: string, event?: string): Promise<StoredOrder>;
  /** How many answer files an event has. */
  storedFiles(event?: string): Promise<number>;
}

/** Stores the orders again for each test of a file. */
export function erasableOrders(): ErasableOrders {
  let database: TestDatabase;
  let db: Db;
  let directory: string;
  let files: Files;
  let office: BoxOffice;
  let service: ErasableOrders["service"];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tessera-erased-"));
    files = diskFiles({ directory });
    database = await createTestDatabase([
      { schema: "boxoffice", migrations: new URL("../../migrations/", import.meta.url) },
    ]);
    db = database.open("boxoffice");
    office = boxOfficeOn(db, { files });
    service = await startForTest(boxoffice, { db, files });
  });
  afterAll(async () => {
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  async function take(...records: TestRecord[]): Promise<void> {
    expect(await office.apply(...records)).toEqual({});
  }

  beforeEach(async () => {
    await service.reset();
    await files.remove((await collect(files.list(""))).map(({ key }) => key));
    await take(sample.organizer());
    for (const event of ["fest", "other"]) {
      await take(
        { ...sample.event({ slug: event, date_from: "2020-07-01T18:00:00Z" }), event },
        { ...sample.item(), event },
        { ...sample.question({ id: 1, type: "F", identifier: "PHOTO" }), event },
        { ...sample.question({ id: 2, type: "T", identifier: "DIET" }), event },
        order({}, { event }),
      );
    }
    await take(bare);
    await takeFacts(db);
    // Answers published long before a position was stored are taken as those of another position.
    service.clock.at = systemClock.now();
  });

  return {
    get db() {
      return db;
    },
    get files() {
      return files;
    },
    get service() {
      return service;
    },
    apply: (...records) => office.apply(...records),
    take,
    documentOf: async (code = "FULL", event = "fest") =>
      (await db.one<{ data: StoredOrder }>(sql`select data from "order" where code = ${code} and event = ${event}`))
        .data,
    storedFiles: async (event = "fest") =>
      (await collect(files.list(keyOfFile({ organizer: "org", event }, "")))).length,
  };
}
