import { randomUUID } from "node:crypto";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { type Topic, topic } from "@tessera/protos/topic";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { bigint, copyTable, text } from "../pg/table.ts";
import { createLog } from "../telemetry/log.ts";
import type { Consumer } from "./consume.ts";
import { nothingErased } from "./dead-letter.ts";
import { header } from "./headers.ts";
import { keepCopy } from "./keep-copy.ts";
import { rebuildsService, refreshCopies } from "./refresh-copies.ts";

interface Thing {
  readonly id: number;
  readonly revision: number;
  readonly name: string;
  readonly mark: string;
}

const changed: Topic<Thing> = topic<Thing>(
  "owner.thing-changed.v1",
  {
    encode: (fact) => ({ finish: () => Buffer.from(JSON.stringify(fact)) }),
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as Thing,
  },
  {
    owner: "owner",
    partitions: 1,
    retention: { kind: "compacted" },
    personalData: {},
    key: ({ id }) => String(id),
    parseKey: (key) => ({ id: Number(key) }),
  },
);

/** Two versions of a reader: the later one knows a column more. */
const earlier = keepCopy(changed, copyTable("thing", { key: { id: bigint }, columns: { name: text } }), (fact) => fact);
const later = keepCopy(
  changed,
  copyTable("thing", { key: { id: bigint }, columns: { name: text, mark: text.orNull } }),
  (fact) => fact,
);

const log = createLog({ service: "test", destination: { write: () => {} } });
const { signal } = new AbortController();

let database: TestDatabase;
let reader: Db;
let owner: Db;

beforeAll(async () => {
  const migrations = new URL("./", import.meta.url);
  database = await createTestDatabase([
    { schema: "owner", migrations },
    { schema: "reader", migrations },
  ]);
  [owner, reader] = [database.open("owner"), database.open("reader")];
  await reader.run(sql`
    create table thing (id bigint primary key, revision bigint not null, name text not null, mark text,
                         known_columns integer not null default 0)`);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await reader.run(sql`truncate thing`);
  await owner.run(sql`truncate rebuild`);
});

const open = (consumer: Consumer) =>
  consumer.open({ db: reader, group: "reader", log, isErased: nothingErased, deps: undefined });
const deliver = (consumer: Consumer, fact: Omit<Thing, "id" | "name">) =>
  open(consumer).deliver(
    [
      {
        topic: changed.name,
        partition: 0,
        key: "1",
        value: changed.encode({ id: 1, name: `Name ${fact.revision}`, ...fact }),
        headers: { [header.factId]: randomUUID(), [header.at]: String(Date.now() * 1000) },
      },
    ],
    signal,
  );
const copy = () => reader.one(sql`select name, mark from thing`);
const rebuilds = () => owner.many(sql`select topic from rebuild where finished_at is null`);

/** The job of a reader of this version. */
const refresh = (consumer: Consumer) => {
  const network = inProcess({ log });
  network.serve("owner", [rebuildsService({ db: owner, owns: [changed.name] })]);
  return refreshCopies({
    consumers: [open(consumer)],
    transportTo: (service) => network.transportTo(service),
    log,
  }).run(signal);
};

describe("a copy that an earlier version has stored, which does not know a column", () => {
  it("has a former value there, and is asked for again until it is right", async () => {
    await deliver(later, { revision: 1, mark: "former" });
    await refresh(later);
    expect(await rebuilds()).toEqual([]);
    await deliver(earlier, { revision: 2, mark: "current" });
    expect(await copy()).toEqual({ name: "Name 2", mark: "former" });
    await refresh(later);
    await refresh(later);
    expect(await rebuilds()).toEqual([{ topic: changed.name }]);
    // What a rebuild publishes has a new revision.
    await owner.run(sql`update rebuild set finished_at = now()`);
    await deliver(later, { revision: 3, mark: "current" });
    expect(await copy()).toEqual({ name: "Name 3", mark: "current" });
    await refresh(later);
    expect(await rebuilds()).toEqual([]);
  });

  it("is not asked for by the earlier version, which would never be content", async () => {
    await deliver(later, { revision: 1, mark: "current" });
    await refresh(earlier);
    expect(await rebuilds()).toEqual([]);
  });
});
