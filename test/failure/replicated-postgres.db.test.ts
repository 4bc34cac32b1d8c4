import { sql } from "@tessera/kit/pg/sql";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openAsAdministrator } from "./fact-ledger.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "./replicated-postgres.ts";
import { openTcpLink, type TcpLink } from "./tcp-link.ts";

let postgres: ReplicatedPostgres;
let link: TcpLink;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  link = await openTcpLink({ target: postgres.address });
});

afterAll(async () => {
  await link?.close();
  await postgres?.remove();
});

it("keeps every answered commit through stops and failovers, under one address", async () => {
  const db = openAsAdministrator(`postgresql://postgres@127.0.0.1:${link.port}/postgres?sslmode=disable`);
  await db.run(sql`create table kept (id bigint primary key)`);
  const answered: number[] = [];
  let stopped = false;
  const writing = (async () => {
    for (let id = 1; !stopped; id += 1) {
      const isStored = await db.run(sql`insert into kept values (${id})`).then(
        () => true,
        () => false,
      );
      if (isStored) answered.push(id);
    }
  })();
  const more = async () => {
    const before = answered.length;
    await expect.poll(() => answered.length).toBeGreaterThan(before + 20);
  };
  await more();
  await postgres.stopImmediately();
  await postgres.comeBack();
  await more();
  for (const how of ["killed", "frozen"] as const) {
    await postgres.failOver(how);
    // What a balancer does with the connections of a server that it has left.
    link.cut();
    await more();
    await postgres.addStandby();
    await more();
  }
  stopped = true;
  await writing;
  const stored = new Set((await db.many<{ id: number }>(sql`select id from kept`)).map(({ id }) => id));
  await db.close();
  expect(answered.filter((id) => !stored.has(id))).toEqual([]);
});
