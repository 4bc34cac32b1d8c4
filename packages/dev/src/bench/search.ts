import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { poll } from "@tessera/kit/waiting/poll";
import { ask, eventPath, organizerPath, sample, sendRecords, timed } from "./client.ts";
import { filledSecret, fillLargeEvent } from "./large-event.ts";
import { inOneProcess } from "./platform.ts";
import { gate, recordOf } from "./records.ts";
import { readFifty } from "./reference.ts";
import { atMost, figure, type Row, report, short } from "./report.ts";

/** What is promised of the p99 of one gate, and of the time until everybody is checked out. */
const promisedMs = 50;
const promisedOnFiveMs = 100;
const promisedExitSeconds = 15;

const requestsEach = 400;

/** What a request asks for, and what its answer must hold. */
interface Lookup {
  readonly path: string;
  readonly holds: string;
}

/** Searches tickets of one large event over REST, by what somebody at a gate types, reads the counts of its list, and checks all out. */
export function benchSearch(tickets: number): Promise<void> {
  return inOneProcess(async ({ baseUrl, progress, open }) => {
    const checkin = open("checkin");
    await sendRecords(baseUrl, [...gate, ...others.flatMap(smallEvent)]);
    await fillLargeEvent(checkin, { tickets, progress });
    const bare = await readFifty(checkin, tickets);
    const any = () => 2 + Math.floor(Math.random() * (tickets - 1));
    const named = await checkin.many<{ id: number; name: string }>(sql`
      select position.id, position.attendee_name as name
        from position
       where position.organizer = 'bench' and position.event = 'festival'
         and position.id = any(${Array.from({ length: 1000 }, any)}::bigint[])`);
    const rows: Row[] = [
      figure(`${tickets} tickets; a bare read of fifty by their keys`, `${short(bare.p50)} ms`),
      figure("  p50, p99 of one reader", "ratio of p50 to the bare read"),
    ];
    for (const [what, next] of Object.entries(lookups({ tickets, named, any }))) {
      progress.update(`${what}…`);
      const { p50, p99 } = await sample(() => find(baseUrl, next()), { times: requestsEach });
      const measured = `${short(p50)}, ${short(p99)} ms, ${(p50 / bare.p50).toFixed(0)}`;
      const limit = what.endsWith("five lists") ? promisedOnFiveMs : promisedMs;
      rows.push({ what: `  ${what}`, measured, promised: `p99 ${limit} ms`, isKept: p99 <= limit });
    }
    progress.update("checking out…");
    rows.push(await checkOut(checkin));
    progress.done();
    report(rows);
  });
}

/** A search may name a list of each event. */
const others = [3, 4, 5, 6];
const fiveLists = [1, ...others].map((list) => `list=${list}`).join("&");

function smallEvent(list: number): string[] {
  const place = { event: `small${list}` };
  const about = { name: { en: "Small" }, live: true, currency: "EUR", timezone: "Europe/Berlin", has_subevents: false };
  return [
    recordOf("event", { ...about, slug: place.event, date_from: "2027-07-01T10:00:00Z" }, place),
    recordOf("checkin_list", { id: list, name: "Gate", all_products: true, limit_products: [] }, place),
  ];
}

function lookups({
  tickets,
  named,
  any,
}: {
  readonly tickets: number;
  readonly named: readonly { readonly id: number; readonly name: string }[];
  readonly any: () => number;
}): Record<string, () => Lookup> {
  const list = `${eventPath}/checkinlists/1/`;
  const search = (text: string, holds: string): Lookup => ({
    path: `${list}positions/?search=${encodeURIComponent(text)}`,
    holds,
  });
  const onFive = (text: string): Lookup => ({
    path: `${organizerPath}/checkinrpc/search/?${fiveLists}&search=${encodeURIComponent(text)}`,
    holds: found,
  });
  // Others may have the text, too.
  const found = '"results":[{';
  const byName = (part: (name: string) => string, holds?: string) => () => {
    const { id, name } = named[Math.floor(Math.random() * named.length)] ?? { id: 0, name: "" };
    return search(part(name), holds ?? filledSecret(id));
  };
  const byTicket = (textOf: (id: number) => string, holds?: string) => () => {
    const id = any();
    return search(textOf(id), holds ?? filledSecret(id));
  };
  return {
    "first and last name": byName((name) => name),
    "last name": byName((name) => name.split(" ")[1] ?? name),
    "a first name of many": byName((name) => name.split(" ")[0] ?? name, found),
    "beginning of a name": byName((name) => name.slice(0, name.indexOf(" ") + 5), found),
    "order code": byTicket((id) => `B${id.toString(16).padStart(7, "0").toUpperCase()}`),
    "beginning of a secret": byTicket((id) => filledSecret(id).slice(0, 8)),
    "e-mail address": byTicket((id) => `${id}@example.org`, found),
    "first and last name, on five lists": () => onFive(named[Math.floor(Math.random() * named.length)]?.name ?? ""),
    "order code, on five lists": () => onFive(`B${any().toString(16).padStart(7, "0").toUpperCase()}`),
    "e-mail address, on five lists": () => onFive(`${any()}@example.org`),
    "no such text": () => search("Xq Zwv", '"count":0'),
    "counts of the list": () => ({ path: `${list}status/`, holds: `"position_count":${tickets}` }),
  };
}

async function find(baseUrl: string, { path, holds }: Lookup): Promise<void> {
  const text = JSON.stringify(await ask(`${baseUrl}${path}`));
  if (!text.includes(holds)) throw new Error(`${path} answered without ${holds}: ${text.slice(0, 500)}`);
}

/** Lets the time come at which everybody on the list is checked out. */
async function checkOut(checkin: Db): Promise<Row> {
  const { inside } = await checkin.one<{ inside: number }>(sql`
    select count(*) as inside from presence where presence.list = 1 and presence.last_type = 'entry'`);
  await checkin.run(sql`update list set exit_all_at = now() where list.id = 1`);
  // Then its next time is noted.
  const isOver = async () =>
    (
      await checkin.one<{ isOver: boolean }>(sql`
      select list.exit_all_at > now() as "isOver" from list where list.id = 1`)
    ).isOver;
  const until = Date.now() + longestExitMs;
  const ms = await timed(async () => {
    if (!(await poll(isOver, { until }))) throw new Error("not every ticket was checked out within ten minutes");
  });
  return atMost(`${inside} tickets checked out at once`, ms / 1000, promisedExitSeconds, "s");
}

const longestExitMs = 600_000;
