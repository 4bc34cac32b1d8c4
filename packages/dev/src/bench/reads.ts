import { columns } from "@tessera/cli/columns";
import type { Progress } from "@tessera/cli/progress";
import { quantile } from "@tessera/cli/quantile";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { onLargeEvent } from "./on-large-event.ts";
import { largeEvent } from "./reads-material.ts";
import { headers, pathTo } from "./reads-seed.ts";

/** What is promised of four readers at once. */
const promisedMs = 200;

const readersAtOnce = [1, 4, 10];

/** Of each kind of request and number of readers, in all. */
const requestsEach = 40;

/** Reads pages of lists, searches and history of one large event over REST, beside a small event. */
export async function benchReads({ tickets }: { readonly tickets: number }): Promise<void> {
  await onLargeEvent({ tickets }, async ({ baseUrl, checkin, progress }) => {
    const floor = await measureFloor(checkin, tickets);
    const measured = await measureAll(baseUrl, { tickets, progress });
    progress.done();
    print({ tickets, floor, measured });
    const atFour = measured.filter(({ readers }) => readers === 4);
    if (atFour.some(({ p50, failed }) => p50 > promisedMs || failed > 0)) process.exitCode = 1;
  });
}

/** The median time of a bare read of fifty tickets by their keys, in milliseconds: no page can be faster. */
async function measureFloor(checkin: Db, tickets: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 100; round += 1) {
    const ids = Array.from({ length: 50 }, () => 1 + Math.floor(Math.random() * tickets));
    const started = performance.now();
    await checkin.many(sql`
      select position.state
        from position
       where position.organizer = ${largeEvent.organizer} and position.event = ${largeEvent.event}
         and position.id = any(${ids}::bigint[])`);
    times.push(performance.now() - started);
  }
  return quantile(times, 0.5);
}

interface Measured {
  readonly request: string;
  readonly readers: number;
  /** The time of the very first request, which may have to prepare something for the others. */
  readonly first: number;
  readonly p50: number;
  readonly p95: number;
  readonly failed: number;
}

async function measureAll(
  baseUrl: string,
  { tickets, progress }: { readonly tickets: number; readonly progress: Progress },
): Promise<Measured[]> {
  const positions = `${largeEvent.event}/checkinlists/1/positions/`;
  const ruled = `${largeEvent.event}/checkinlists/2/positions/`;
  const pages = Math.ceil(tickets / 50);
  // Filters may leave half of the tickets.
  const anyPage = () => 1 + Math.floor((Math.random() * pages) / 2);
  const first = (request: string, path: string): Request => ({ request, path: () => path });
  const deep = (name: string, query: string): Request[] => [
    { request: `${name}, next pages`, path: () => `${positions}?${query}page=${anyPage()}`, isWalk: true },
    { request: `${name}, any page`, path: () => `${positions}?${query}page=${anyPage()}` },
  ];
  const requests: readonly Request[] = [
    first("first page", positions),
    ...deep("default order", ""),
    first("last page", `${positions}?page=last`),
    first("search=anna", `${positions}?search=anna`),
    first("search=@example", `${positions}?search=%40example`),
    first("search of one ticket", `${positions}?search=${Math.floor(tickets / 3)}%40`),
    first("search=an", `${positions}?search=an`),
    first("item=", `${positions}?item=2`),
    ...deep("item=", "item=2&"),
    first("has_checkin=false", `${positions}?has_checkin=false`),
    first("has_checkin=true", `${positions}?has_checkin=true`),
    first("check_rules", `${ruled}?check_rules=true`),
    ...orderings.flatMap((ordering) => [
      first(ordering, `${positions}?ordering=${ordering}`),
      ...deep(ordering, `ordering=${ordering}&`),
    ]),
    first("history, newest", `${largeEvent.event}/checkins/?ordering=-created`),
    first("history, last page", `${largeEvent.event}/checkins/?page=last`),
    first("a small event", `${largeEvent.small}/checkinlists/3/positions/`),
  ];
  const measured: Measured[] = [];
  for (const each of requests) {
    for (const readers of readersAtOnce) {
      progress.update(`${each.request}, ${readers} at once…`);
      measured.push({ request: each.request, readers, ...(await measure(baseUrl, each, readers)) });
    }
  }
  return measured;
}

interface Request {
  readonly request: string;
  /** Of one of its pages, or of that at which a walk begins. */
  path(): string;
  /** Follows `next`. */
  readonly isWalk?: boolean;
}

const columnNames = [
  "attendee_name",
  "last_checked_in",
  "positionid",
  "order__email",
  "order__code",
  "order__datetime",
];

const orderings = [
  ...columnNames.flatMap((name) => [name, `-${name}`]),
  // Several at once.
  "attendee_name,order__code",
  "-order__datetime,positionid",
];

async function measure(
  baseUrl: string,
  { path, isWalk = false }: Request,
  readers: number,
): Promise<Pick<Measured, "first" | "p50" | "p95" | "failed">> {
  const urlOf = () => `${baseUrl}${pathTo(path())}`;
  const begun = performance.now();
  await ask(urlOf());
  const first = performance.now() - begun;
  const times: number[] = [];
  let failed = 0;
  const each = Math.ceil(requestsEach / readers);
  await Promise.all(
    Array.from({ length: readers }, async () => {
      let next = isWalk ? (await ask(urlOf())).next : null;
      for (let round = 0; round < each; round += 1) {
        const started = performance.now();
        const answer = await ask(next ?? urlOf());
        times.push(performance.now() - started);
        if (answer.status !== 200) failed += 1;
        if (isWalk) next = answer.next;
      }
    }),
  );
  return { first, p50: quantile(times, 0.5), p95: quantile(times, 0.95), failed };
}

async function ask(url: string): Promise<{ readonly status: number; readonly next: string | null }> {
  const answer = await fetch(url, { headers });
  const { next = null } = (await answer.json()) as { readonly next?: string | null };
  return { status: answer.status, next };
}

function print({
  tickets,
  floor,
  measured,
}: {
  readonly tickets: number;
  readonly floor: number;
  readonly measured: readonly Measured[];
}): void {
  const kinds = [...new Set(measured.map(({ request }) => request))];
  const rows = kinds.map((kind) => {
    const cells = measured
      .filter(({ request }) => request === kind)
      .map(
        ({ p50, p95, failed }) => `${p50.toFixed(0)} / ${p95.toFixed(0)} ms${failed === 0 ? "" : `, ${failed} failed`}`,
      );
    const four = measured.find(({ request, readers }) => request === kind && readers === 4);
    const first = measured.find(({ request }) => request === kind)?.first ?? 0;
    return [kind, `${first.toFixed(0)} ms`, ...cells, `${((four?.p50 ?? 0) / floor).toFixed(0)}`];
  });
  const heading = ["p50 / p95", "first of all", ...readersAtOnce.map((readers) => `${readers} at once`), "ratio at 4"];
  process.stdout.write(
    `${tickets} tickets; a bare read of fifty by their keys takes ${floor.toFixed(1)} ms (ratio 1); promised: p50 of four readers below ${promisedMs} ms\n\n${columns([heading, ...rows])}\n`,
  );
}
