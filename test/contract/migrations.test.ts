import { readdir, readFile } from "node:fs/promises";
import { loadServices } from "@tessera/cli/services";
import { describe, expect, it } from "vitest";
import { findBlockingStatements, type MigrationText } from "./find-blocking-statements.ts";

async function read(folder: URL): Promise<MigrationText[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, folder), "utf8") })));
}

it("no migration of any service keeps writers of an existing table waiting", async () => {
  const kit = await read(new URL("../../packages/kit/migrations/", import.meta.url));
  for (const { name, migrations } of await loadServices(["all"])) {
    const own = await read(migrations);
    expect(own.length).toBeGreaterThan(0);
    expect(findBlockingStatements([...kit, ...own]), name).toEqual([]);
  }
});

describe("a migration", () => {
  const first = { name: "0001", text: 'create table scan (id bigint); create table "order" (id bigint);' };
  const findIn = (text: string) => findBlockingStatements([first, { name: "0002", text }]);

  it.each([
    "create index scan_by_id on scan (id)",
    'create unique index on only "order" using hash (id)',
    "create index scan_by_id on scan (id); -- on scan concurrently",
    "update scan set id = 1",
    'delete from "order"',
    "do $$ begin update scan set id = 1; end $$",
    "with old as (delete from scan returning id) select id from old",
    "lock table scan in exclusive mode",
    "alter table scan alter column id type text",
    "alter table scan alter id set data type text",
    "alter table scan alter column id set not null",
    "alter table scan add column other bigint, add column made uuid default gen_random_uuid()",
    "alter table scan add column made timestamptz not null default clock_timestamp()",
    "alter table scan add column twice bigint generated always as (id * 2) stored",
    "alter table scan add column number bigint generated always as identity",
    "alter table scan add column other bigint unique",
    "alter table scan add constraint positive check (id > 0)",
    "alter table scan add check (id > 0)",
    'alter table scan add foreign key (id) references "order" (id)',
    "alter table scan add constraint scan_key primary key (id)",
    "alter table scan set unlogged",
    "--! no-transaction\ncreate index concurrently scan_by_id on scan (id)",
    "--! no-transaction\ncreate index concurrently if not exists scan_by_id on scan (id)",
    "--! no-transaction\nupdate scan set id = 1",
  ])("may not say: %s", (text) => {
    expect(findIn(text)).toHaveLength(1);
  });

  it.each([
    "create table gate (id bigint); create index gate_by_id on gate (id); alter table gate alter column id type text",
    "alter table scan add column code text, add column kind text not null default 'entry', add column made timestamptz default now()",
    "alter table scan add column numbers bigint[] not null default '{}'::bigint[], alter column id drop not null",
    "alter table scan add constraint positive check (id > 0 and id <> 7) not valid",
    "alter table scan add constraint scan_key unique using index scan_by_id",
    "alter table scan alter column id set default 7, drop column id",
    "comment on column scan.id is 'create index on scan (id); update scan set id = 1'",
    "--! no-transaction\ndrop index concurrently if exists scan_by_id;\n--! next\ncreate index concurrently scan_by_id on scan (id)",
    "--! no-transaction\nalter table scan validate constraint positive",
  ])("may say: %s", (text) => {
    expect(findIn(text)).toEqual([]);
  });
});
