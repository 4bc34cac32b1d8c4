import { columns } from "@tessera/cli/columns";
import type { Progress } from "@tessera/cli/progress";
import { quantile } from "@tessera/cli/quantile";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { onLargeEvent } from "./on-large-event.ts";
import { filledSecret, largeEvent } from "./reads-material.ts";
import { headers, pathTo } from "./reads-seed.ts";

/** What is promised of the p99 of one gate. */
const promisedMs = 50;

const requestsEach = 400;
const warmRequests = 20;
const readersAtOnce = [1, 4];

/** Half of the tickets were scanned on each of two lists. */
const scannedOfTen = 5;

const listPath = `${largeEvent.event}/checkinlists/1/`;

/** What a request asks for, and what its answer must hold. */
interface Lookup {
  readonly path: string;
  readonly holds: string;
}

/** Searches tickets of one large event over REST, by what somebody at a gate types. */
export async function benchSearch({ tickets }: { readonly tickets: number }): Promise<void> {
  await onLargeEvent({ tickets, scannedOfTen }, async ({ baseUrl, checkin, progress }) => {
    const named = await readNames(checkin, tickets);
    const search = (text: string, holds: string): Lookup => ({
      path: `${listPath}positions/?search=${encodeURIComponent(text)}`,
      holds,
    });
    // Others may have the text, too.
    const found = '"results":[{';
    const any = () => 2 + Math.floor(Math.random() * (tickets - 1));
    const codeOf = (id: number) => `B${id.toString(16).padStart(7, "0").toUpperCase()}`;
    const byName = (part: (name: string) => string, holds?: string) => () => {
      const { id, name } = named[Math.floor(Math.random() * named.length)] ?? { id: 0, name: "" };
      return search(part(name), holds ?? filledSecret(id));
    };
    const byTicket = (textOf: (id: number) => string, holds?: string) => () => {
      const id = any();
      return search(textOf(id), holds ?? filledSecret(id));
    };
    await measureAll(baseUrl, progress, {
      "search: first and last name": byName((name) => name),
      "search: last name": byName((name) => name.split(" ")[1] ?? name),
      "search: a first name of many": byName((name) => name.split(" ")[0] ?? name, found),
      "search: beginning of a name": byName((name) => name.slice(0, name.indexOf(" ") + 5), found),
      "search: order code": byTicket(codeOf),
      "search: beginning of a secret": byTicket((id) => filledSecret(id).slice(0, 8)),
      "search: e-mail address": byTicket((id) => `${id}@example.org`, found),
      "search: no such text": () => search("Xq Zwv", '"count":0'),
    });
  });
}

/** Reads the status of a list with all tickets of one large event, half of which were scanned. */
export async function benchStatus({ tickets }: { readonly tickets: number }): Promise<void> {
  await onLargeEvent({ tickets, scannedOfTen }, async ({ baseUrl, progress }) => {
    const scanned = Math.round((tickets * scannedOfTen) / 10);
    process.stdout.write(`${tickets} tickets, about ${scanned} of them scanned\n`);
    await measureAll(baseUrl, progress, {
      "status of the list": () => ({ path: `${listPath}status/`, holds: `"position_count":${tickets}` }),
      "the list with its counts": () => ({ path: listPath, holds: `"position_count":${tickets}` }),
    });
  });
}

async function readNames(checkin: Db, tickets: number): Promise<{ readonly id: number; readonly name: string }[]> {
  const ids = Array.from({ length: 1000 }, () => 2 + Math.floor(Math.random() * (tickets - 1)));
  return checkin.many(sql`
    select position.id, position.attendee_name as name
      from position
     where position.organizer = ${largeEvent.organizer} and position.event = ${largeEvent.event}
       and position.id = any(${ids}::bigint[])`);
}

async function measureAll(
  baseUrl: string,
  progress: Progress,
  lookups: Readonly<Record<string, () => Lookup>>,
): Promise<void> {
  const rows = [["p50 / p99", ...readersAtOnce.map((readers) => `${readers} at once`), "promised of one"]];
  for (const [name, next] of Object.entries(lookups)) {
    const cells: string[] = [];
    for (const readers of readersAtOnce) {
      progress.update(`${name}, ${readers} at once…`);
      for (let round = 0; round < warmRequests; round += 1) await ask(baseUrl, next());
      const times = await measure(baseUrl, next, readers);
      const p99 = quantile(times, 0.99);
      if (readers === 1 && p99 > promisedMs) process.exitCode = 1;
      cells.push(`${quantile(times, 0.5).toFixed(1)} / ${p99.toFixed(1)} ms`);
    }
    rows.push([name, ...cells, `p99 ${promisedMs} ms`]);
  }
  progress.done();
  process.stdout.write(`${columns(rows)}\n`);
}

async function measure(baseUrl: string, next: () => Lookup, readers: number): Promise<number[]> {
  const times: number[] = [];
  const each = Math.ceil(requestsEach / readers);
  await Promise.all(
    Array.from({ length: readers }, async () => {
      for (let round = 0; round < each; round += 1) times.push(await ask(baseUrl, next()));
    }),
  );
  return times;
}

/** Returns the milliseconds until the answer was read; throws for an answer without what it must hold. */
async function ask(baseUrl: string, { path, holds }: Lookup): Promise<number> {
  const started = performance.now();
  const answer = await fetch(`${baseUrl}${pathTo(path)}`, { headers });
  const text = await answer.text();
  const took = performance.now() - started;
  if (answer.status !== 200 || !text.replaceAll('": ', '":').includes(holds))
    throw new Error(`${path} answered ${answer.status} without ${holds}: ${text.slice(0, 500)}`);
  return took;
}
