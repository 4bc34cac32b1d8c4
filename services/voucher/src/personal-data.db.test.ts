import { randomUUID } from "node:crypto";
import { runInContext } from "@tessera/kit/context";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, expect, it } from "vitest";
import { voucherDatabase } from "./testing/database.ts";
import { place, startVoucher } from "./testing/start-voucher.ts";

const { db } = await voucherDatabase();
const service = await startVoucher(db);
beforeEach(async () => {
  await service.reset();
  await service.prepareEvent();
});

const guest = "Ada Quillfeather <ada@example.org>";

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly comment: string | null;
}

/** The columns that can hold a text. */
const columnsOf = () =>
  service.db.many<Column>(sql`
    select pg_class.relname as table, pg_attribute.attname as column, pg_type.typname as type,
           col_description(pg_class.oid, pg_attribute.attnum) as comment
      from pg_class
      join pg_attribute on pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
      join pg_type on pg_type.oid = pg_attribute.atttypid
     where pg_class.relnamespace = current_schema()::regnamespace
       and pg_class.relkind in ('r', 'p')
       and pg_type.typname in ('text', 'jsonb', 'bytea', '_text')
     order by 1, 2`);

async function columnsWith(text: string): Promise<Column[]> {
  const columns = await columnsOf();
  const held = await Promise.all(
    columns.map(({ table, column, type }) => {
      const isThere =
        type === "bytea" ? `position($1::bytea in "${column}") > 0` : `position($1 in "${column}"::text) > 0`;
      return service.db.many({
        text: `select from ${table} where ${isThere} limit 1`,
        values: [type === "bytea" ? Buffer.from(text) : text],
      });
    }),
  );
  return columns.filter((_, index) => (held[index]?.length ?? 0) > 0);
}

it("what a voucher of the waiting list says of a guest stands in columns that are declared, and in no others", async () => {
  const requestId = randomUUID();
  const { id } = await runInContext({ requestId }, () => service.createOne({ tag: "waiting-list", comment: guest }));
  await runInContext({ requestId: randomUUID() }, () => service.update(id, { item: 1 }));
  const data = Buffer.from(JSON.stringify({ id: 7, code: "IMPORTED", tag: "waiting-list", comment: guest }));
  await service.records.applyRecords({ records: [{ line: 1, kind: "voucher", ...place, deleted: false, data }] });
  await service.deliver(topics.itemChanged, [`${place.organizer}/${place.event}/1`]);
  const found = await columnsWith(guest);
  expect(found.map(({ table, column }) => `${table}.${column}`)).toEqual([
    "answered_request.response",
    "outbox.payload",
    "voucher.comment",
  ]);
  for (const { comment } of found) expect(comment).toMatch(/^personal data: /);
  expect(found.at(-1)?.comment).toContain("waiting-list");
  expect(service.lines.join("\n")).not.toContain("Quillfeather");
});

it("the facts of vouchers declare what their comments may say, and hold nothing of it elsewhere", async () => {
  await service.createOne({ comment: guest });
  const [row] = await service.db.many<{ payload: Buffer }>(sql`select outbox.payload from outbox`);
  const { voucher, ...envelope } = topics.voucherChanged.decode(row?.payload ?? new Uint8Array());
  const { comment, ...others } = voucher?.fields ?? { comment: undefined };
  expect([topics.voucherChanged.personalData, comment]).toEqual([{ waiting_list: ["voucher.fields.comment"] }, guest]);
  expect(JSON.stringify([envelope, { ...voucher, fields: others }])).not.toContain("Quillfeather");
});
