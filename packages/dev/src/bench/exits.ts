import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import { quantile } from "@tessera/cli/quantile";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { groundwork, onEmptyPlatform } from "./on-empty-platform.ts";
import { scannedTickets, scanUntil } from "./scan-beside.ts";
import { usageOf, usageOfPostgres } from "./usage.ts";

/** What is promised. */
const limit = { seconds: 15, scanMs: 500 } as const;

/**
 * Checks all tickets of a list out at once, beside scans of another list. The ratio compares the time with a plain
 * `insert … select` of as many scans.
 */
export function benchExits({ inside }: { inside: number }): Promise<void> {
  return onEmptyPlatform(async ({ baseUrl, postgres, serving, progress, open, send }) => {
    progress.update("filling the list…");
    await send([...groundwork, ...scannedTickets()]);
    const db = open("checkin");
    await fillList(db, inside);
    const plain = await insertPlainly(db);
    progress.update("checking out…");
    const undisturbed = await scanUntil(baseUrl, { first: 1, until: sleep(5000).then(() => {}) });
    const used = await usedBy(serving.pid, postgres.dataDirectory);
    const started = performance.now();
    await db.run(sql`update list set exit_all_at = now() where list.id = 1`);
    const done = untilOut(db).then(() => (performance.now() - started) / 1000);
    const beside = await scanUntil(baseUrl, { first: 1 + undisturbed.length, until: done });
    const seconds = await done;
    const cpu = await usedBy(serving.pid, postgres.dataDirectory);
    progress.done();
    const [before, p50, p99] = [quantile(undisturbed, 0.99), quantile(beside, 0.5), quantile(beside, 0.99)];
    const rows = [
      ["inside", String(inside)],
      ["all checked out after", `${seconds.toFixed(1)} s (limit ${limit.seconds} s)`],
      ["microseconds for each", ((seconds * 1e6) / inside).toFixed(0)],
      [
        "CPU, platform process and PostgreSQL",
        `${(cpu.platform - used.platform).toFixed(1)} and ${(cpu.postgres - used.postgres).toFixed(1)} s`,
      ],
      ["plain insert of as many scans", `${plain.toFixed(1)} s`],
      ["ratio to that", (seconds / plain).toFixed(1)],
      ["scans before, p99", `${before.toFixed(0)} ms`],
      ["scans beside it, p50 and p99", `${p50.toFixed(0)}, ${p99.toFixed(0)} ms (limit ${limit.scanMs} ms)`],
    ];
    process.stdout.write(`${columns(rows)}\n`);
    if (seconds > limit.seconds || p99 > limit.scanMs) process.exitCode = 1;
  });
}

/** Seconds of CPU. */
async function usedBy(pid: number, dataDirectory: string): Promise<{ platform: number; postgres: number }> {
  const [platform, postgres] = await Promise.all([usageOf(pid), usageOfPostgres(dataDirectory)]);
  return { platform: platform.cpuSeconds, postgres: postgres.cpuSeconds };
}

/** Copies a ticket until as many are inside the first list. */
async function fillList(db: Db, inside: number): Promise<void> {
  const first = 1_000_000;
  const tickets = sql`generate_series(${first}::bigint, ${first + inside - 1}::bigint) as ticket (id)`;
  await db.run(sql`
    insert into position (organizer, event, id, revision, positionid, order_code, item, secret, order_status,
                          valid_if_pending, require_approval, canceled, blocked, counted_as, attendee_name, order_email,
                          order_placed_at, search_text, pseudonymization_id, state)
    select position.organizer, position.event, ticket.id, 1, 1, 'C' || ticket.id, 1, 'secret' || ticket.id, 'paid', false,
           false, false, false, 'paid', position.attendee_name, position.order_email, position.order_placed_at,
           position.search_text, ticket.id::text, position.state
      from position, ${tickets}
     where position.id = 1`);
  await db.run(sql`
    insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
    select 'bench', 'festival', ticket.id, 1, 1, 1, 'entry', now() - interval '1 hour' from ${tickets}`);
  await db.run(sql`
    insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
    select 'bench', 'festival', nextval('scan_id'), 1, ticket.id, 'entry', true, now() - interval '1 hour', false, false,
           false
      from ${tickets}`);
  await db.run(sql`
    insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
    values ('bench', 'festival', 0, 0, 1, 0, 'paid', ${inside}, 0, 0),
           ('bench', 'festival', 1, 0, 1, 0, 'paid', 0, ${inside}, ${inside})`);
  for (const table of [sql`position`, sql`presence`, sql`scan`]) await db.run(sql`analyze ${table}`);
}

/** Seconds to insert the same scans into a table like theirs. */
async function insertPlainly(db: Db): Promise<number> {
  await db.run(sql`create table bench_scan (like scan including all)`);
  const started = performance.now();
  await db.run(sql`insert into bench_scan table scan`);
  const seconds = (performance.now() - started) / 1000;
  await db.run(sql`drop table bench_scan`);
  return seconds;
}

async function untilOut(db: Db): Promise<void> {
  for (;;) {
    const { moved } = await db.one<{ moved: boolean }>(
      sql`select list.exit_all_at > now() as moved from list where list.id = 1`,
    );
    if (moved) return;
    await sleep(100);
  }
}
