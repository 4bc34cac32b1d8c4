import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { keepFactTables } from "@tessera/kit/bus/keep-tables";
import { systemClock } from "@tessera/kit/clock";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { printSchema } from "./print-schema.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

/** One of everything that a service may define. */
const everything = `
create type mood as enum ('good', 'BAD', 'it''s so');
create domain percent as numeric(5, 2) default 0 not null constraint in_range check (value >= 0 and value <= 100);
create sequence shared_id as integer increment by 2 start with 11 cache 5;
create sequence plain_id;
create function shout(word text) returns text language sql immutable as $$ select upper(word) || 'Ä' $$;
create function touch() returns trigger language plpgsql as $body$
begin
  NEW.changed_at = now();
  return NEW;
end
$body$;
create table parent (
  id bigint generated always as identity (start with 1000 cache 3),
  organizer text not null,
  "Odd Name" text collate "C" default 'It''s "X"' not null,
  mood mood not null default 'BAD',
  share percent,
  codes text[] not null default '{}',
  settings jsonb not null default '{}'::jsonb,
  shouted text generated always as (shout(organizer)) stored,
  changed_at timestamptz(3) not null default now(),
  primary key (organizer, id),
  constraint named_once unique nulls not distinct (organizer, "Odd Name"),
  check (length(organizer) > 0)
) with (fillfactor = 80);
comment on table parent is 'Holds what''s ABOVE.';
comment on column parent.organizer is 'Personal: no';
create index parent_search on parent using gin (lower("Odd Name") gin_trgm_ops);
create unique index parent_one_good on parent (organizer) where mood = 'good';
create trigger touched before update on parent for each row when (old.organizer is distinct from new.organizer) execute function touch();
create table child (
  id serial primary key,
  organizer text not null,
  parent_id bigint,
  other_id integer,
  foreign key (organizer, parent_id) references parent (organizer, id) on delete cascade deferrable initially deferred
);
alter table child add constraint itself foreign key (other_id) references child (id);
create unlogged table scratch (value integer);
create table daily (day date not null, number integer not null check (number > 0), primary key (day, number)) partition by range (day);
create table daily_other partition of daily default;
create table daily_20261121 partition of daily for values from ('2026-11-21') to ('2026-11-22');
create table daily_early partition of daily (constraint tiny check (number < 10)) for values from (minvalue) to ('2000-01-01');
create index daily_number on daily (number desc nulls last) include (day);
create view good_parent as select id, organizer from parent where mood = 'good';
`;

let database: TestDatabase;
let folder: string;
let admin: Db;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "migrations-"));
  await writeFile(join(folder, "0001_everything.sql"), everything);
  database = await createTestDatabase([{ schema: "alpha", migrations: pathToFileURL(`${folder}/`) }]);
  admin = openDatabase({ url: database.url, schema: "public", applicationName: "admin", log });
});

afterAll(async () => {
  await admin.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

describe("printSchema", () => {
  it("prints a table as one would write it", async () => {
    const printed = await printSchema(database.url, "alpha");
    expect(printed).toContain(`create table outbox (
  id bigint not null generated always as identity,
  fact_id uuid not null default gen_random_uuid(),
  topic text not null,
  key text not null,
  partition integer,
  payload bytea,
  marker uuid,
  traceparent text,
  created_at timestamptz not null default now(),
  headers jsonb,
  constraint outbox_pkey primary key (topic, id)
);
`);
    expect(printed).toContain(`create table inbox (
  fact_on date not null,
  consumer text not null,
  fact_id uuid not null,
  constraint inbox_pkey primary key (fact_on, consumer, fact_id)
) partition by range (fact_on);

create table inbox_other partition of inbox default;
`);
  });

  it("prints everything a service may define", async () => {
    const printed = await printSchema(database.url, "alpha");
    for (const line of [
      "create type mood as enum ('good', 'BAD', 'it''s so');",
      "create sequence plain_id as bigint;",
      "create sequence shared_id as integer increment by 2 start with 11 cache 5;",
      "  id bigint not null generated always as identity (start with 1000 cache 3),",
      `  "Odd Name" text collate "C" not null default 'It''s "X"'::text,`,
      "  shouted text generated always as (shout(organizer)) stored,",
      `  constraint named_once unique nulls not distinct (organizer, "Odd Name"),`,
      "  constraint parent_organizer_check check ((length(organizer) > 0))",
      ") with (fillfactor=80);",
      'create index parent_search on parent using gin (lower("Odd Name") gin_trgm_ops);',
      "create unique index parent_one_good on parent using btree (organizer) where (mood = 'good'::mood);",
      "comment on table parent is 'Holds what''s ABOVE.';",
      "  changed_at timestamptz(3) not null default now(),",
      "comment on column parent.organizer is 'Personal: no';",
      "create unlogged table scratch (",
      "alter table child add constraint itself foreign key (other_id) references child(id);",
      "alter sequence child_id_seq owned by child.id;",
      "create index daily_number on daily using btree (number desc nulls last) include (day);",
      "  NEW.changed_at = now();",
    ]) {
      expect(printed.split("\n")).toContain(line);
    }
  });

  it("leaves out what comes and goes with the days", async () => {
    const before = await printSchema(database.url, "alpha");
    await keepFactTables(database.open("alpha"), systemClock);
    expect(await printSchema(database.url, "alpha")).toBe(before);
    expect(before).not.toMatch(/20\d{6}/);
    expect(before).toContain("create table daily_other partition of daily default;");
  });

  it("prints what creates the same again", async () => {
    const printed = await printSchema(database.url, "alpha");
    await admin.run(sql`create schema again`);
    const again = openDatabase({ url: database.url, schema: "again", applicationName: "again", log });
    const dedicated = await again.dedicated();
    await dedicated.run({ text: `do $do$ begin execute ${quoted(printed)}; end $do$`, values: [] });
    await dedicated.release();
    await again.close();
    expect(await printSchema(database.url, "again")).toBe(printed);
  });

  it("tells schemas of different columns, defaults and indexes apart", async () => {
    const before = await printSchema(database.url, "alpha");
    for (const [change, undo] of [
      ["alter table alpha.scratch add column more integer", "alter table alpha.scratch drop column more"],
      [
        "alter table alpha.scratch alter column value set not null",
        "alter table alpha.scratch alter column value drop not null",
      ],
      [
        "alter table alpha.scratch alter column value set default 1",
        "alter table alpha.scratch alter column value drop default",
      ],
      ["create index extra on alpha.scratch (value)", "drop index alpha.extra"],
      ["alter type alpha.mood rename value 'good' to 'fine'", "alter type alpha.mood rename value 'fine' to 'good'"],
    ] as const) {
      await admin.run({ text: change, values: [] });
      expect(await printSchema(database.url, "alpha")).not.toBe(before);
      await admin.run({ text: undo, values: [] });
      expect(await printSchema(database.url, "alpha")).toBe(before);
    }
  });

  it("prints nothing for a schema with nothing in it", async () => {
    await admin.run(sql`create schema empty`);
    expect(await printSchema(database.url, "empty")).toBe("");
  });
});

function quoted(text: string): string {
  return `$printed$${text}$printed$`;
}
