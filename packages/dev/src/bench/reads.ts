import { ask, eventPath, type Sampled, sample, sendRecords } from "./client.ts";
import { fillLargeEvent } from "./large-event.ts";
import { inOneProcess } from "./platform.ts";
import { gate } from "./records.ts";
import { readFifty } from "./reference.ts";
import { figure, type Row, report, short } from "./report.ts";

/** What is promised of the p50 of four readers at once. */
const promisedMs = 200;
/** Of a page that is named by its number: all tickets before it are skipped. */
const promisedJumpMs = 2000;
const readers = 4;

/** Of each kind of request, in all. */
const requestsEach = 40;

/** Reads pages of lists, searches and history of one large event over REST, beside a bare read of fifty tickets. */
export function benchReads(tickets: number): Promise<void> {
  return inOneProcess(async ({ baseUrl, progress, open }) => {
    const checkin = open("checkin");
    await sendRecords(baseUrl, gate);
    await fillLargeEvent(checkin, { tickets, progress });
    const bare = await readFifty(checkin, tickets);
    const rows: Row[] = [
      figure(`${tickets} tickets; a bare read of fifty by their keys`, `${short(bare.p50)} ms`),
      figure(`  p50, p99 of ${readers} at once`, "ratio of p50 to the bare read"),
    ];
    for (const [what, path, how] of requestsOf(tickets)) {
      progress.update(`${what}…`);
      const { p50, p99 } = await measure(`${baseUrl}${eventPath}`, { path, isWalk: how === "walk" });
      const measured = `${short(p50)}, ${short(p99)} ms, ${(p50 / bare.p50).toFixed(0)}`;
      const promised = how === "jump" ? promisedJumpMs : promisedMs;
      rows.push({ what: `  ${what}`, measured, promised: `p50 ${promised} ms`, isKept: p50 <= promised });
    }
    progress.done();
    report(rows);
  });
}

type Request = readonly [what: string, path: () => string, how?: "walk" | "jump"];

function requestsOf(tickets: number): Request[] {
  const pages = Math.ceil(tickets / 50);
  // Filters may leave half of the tickets.
  const anyPage = () => 1 + Math.floor((Math.random() * pages) / 2);
  const positions = (query: string) => `/checkinlists/1/positions/?${query}`;
  const first = (query: string): Request => [query, () => positions(query)];
  const deep = (query: string): Request[] => [
    [`${query || "default order"}, next pages`, () => positions(`${query}&page=${anyPage()}`), "walk"],
    [`${query || "default order"}, any page`, () => positions(`${query}&page=${anyPage()}`), "jump"],
  ];
  return [
    ["first page", () => positions("")],
    ...deep(""),
    ...["page=last", "search=anna", "search=%40example", "search=an", "item=2"].map(first),
    ...deep("item=2"),
    ...["has_checkin=false", "has_checkin=true", "check_rules=true"].map(first),
    ...orderings.flatMap((ordering) => [first(`ordering=${ordering}`), ...deep(`ordering=${ordering}`)]),
    ["history, newest", () => "/checkins/?ordering=-created"],
    ["history, last page", () => "/checkins/?page=last"],
  ];
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
  ...["attendee_name,order__code", "-order__datetime,positionid"],
];

/** Reads pages; each reader of a walk follows `next` from page to page. */
function measure(
  base: string,
  { path, isWalk }: { readonly path: () => string; readonly isWalk: boolean },
): Promise<Sampled> {
  const open: string[] = [];
  const read = async () => {
    const { next } = await ask<{ readonly next: string | null }>(open.shift() ?? `${base}${path()}`);
    if (isWalk && next !== null) open.push(next);
  };
  return sample(read, { times: requestsEach, atOnce: readers });
}
