import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { ask, eventPath, sendRecords, timed } from "./client.ts";
import { fillLargeEvent } from "./large-event.ts";
import { withLoad } from "./load.ts";
import { inOneProcess, type Platform } from "./platform.ts";
import { apiKey, gate } from "./records.ts";
import { atLeast, atMost, figure, type Row, report, short } from "./report.ts";
import { readProcessors, usageOf } from "./usage.ts";

/** What is promised; the report of a million scans. */
const promised = { scansPerSecond: 50_000, reportSeconds: 3, scans: 1_000_000, slower: 1.5 } as const;

/** Of each ticket, on the day of the report. */
const scansEach = 10;

const date = "2027-07-01";

/** At the gates meanwhile. */
const gates = { perSecond: 20, quietMs: 10_000, seconds: 600 } as const;

/** Exports all scans of an event, and reports on a day with most of them, beside scans at its gates. */
export function benchExport(tickets: number): Promise<void> {
  return inOneProcess(async (platform) => {
    const { baseUrl, progress, open, processes } = platform;
    const checkin = open("checkin");
    await sendRecords(baseUrl, gate);
    await fillLargeEvent(checkin, { tickets, progress });
    progress.update("scanning…");
    await fillDay(checkin, tickets);
    const { count: scans } = await checkin.one<{ count: number }>(sql`select count(*) as count from scan`);
    progress.update("copying the same columns…");
    const copied = (await timed(() => copyScans(open()))) / 1000;
    const rows: Row[] = [figure(`${scans} scans, COPY of the same columns`, `${short(copied)} s`)];
    for (const [name, query] of [
      ["JSON lines", ""],
      ["a table", "format=csv"],
    ] as const) {
      progress.update(`exporting ${name}…`);
      const { lines, seconds, megabytes, used } = await readExport(platform, query);
      if (Math.abs(lines - scans) > 1) throw new Error(`the export had ${lines} of ${scans} scans`);
      rows.push(
        atLeast(`exported as ${name}, ${short(megabytes)} MB`, scans / seconds, promised.scansPerSecond, "/s"),
        figure("  ratio to COPY", short(seconds / copied)),
        figure(
          "  processor time of a scan, and of PostgreSQL",
          `${short((used.ours / scans) * 1e6)}, ${short((used.postgres / scans) * 1e6)} µs`,
        ),
      );
    }
    progress.update("reporting…");
    const reportIn = () => timed(() => ask(`${baseUrl}${eventPath}/checkins/report/?date=${date}`));
    const times = [await reportIn(), await reportIn(), await reportIn()].sort((one, other) => one - other);
    const seconds = (times[1] ?? 0) / 1000;
    const limit = Math.max(1, (promised.reportSeconds * tickets * scansEach) / promised.scans);
    rows.push(
      atMost(`report of ${tickets * scansEach} scans`, seconds, limit, "s"),
      figure("  ratio to COPY", short(seconds / copied)),
      ...(await measureGates(platform, tickets)),
    );
    const [process] = processes();
    const memory = await usageOf(process?.pid ?? 0);
    rows.push(figure("peak memory, with all services", `${memory.peakMegabytes.toFixed(0)} MiB`));
    progress.done();
    report(rows);
  });
}

/** Scans each ticket in and out, all day; one scan of ten is refused. */
async function fillDay(checkin: Db, tickets: number): Promise<void> {
  await checkin.run(sql`
    insert into scan (organizer, event, id, list, position, type, successful, reason, at, created_at, nonce, device, device_id, gate,
                      forced, force_sent, auto_checked_in)
    select 'bench', 'festival', nextval('scan_id'), 1 + made.ticket % 2, made.ticket,
           case when made.turn % 2 = 0 then 'entry' else 'exit' end, made.number % 10 > 0,
           case when made.number % 10 = 0 then 'already_redeemed' end, made.at, made.at, md5(made.number::text), 1 + made.number % 50,
           1 + made.number % 50, 1 + made.number % 8, false, false, false
      from (select number.number, 1 + (number.number * 7919) % ${tickets} as ticket, number.number / ${tickets} as turn,
                   timestamptz '2027-07-01 06:00Z' + number.number * (interval '14 hours' / ${tickets * scansEach}) as at
              from generate_series(1::bigint, ${tickets * scansEach - 1}::bigint) as number (number)) as made`);
  await checkin.run(sql`
    insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
    select distinct on (scan.position, scan.list) scan.organizer, scan.event, scan.position, scan.list, 1, 1, scan.type, scan.at
      from scan
     where scan.organizer = 'bench' and scan.event = 'festival' and scan.successful
     order by scan.position, scan.list, scan.at desc, scan.id desc
        on conflict (position, list, event, organizer) do update
           set last_type = excluded.last_type, last_at = excluded.last_at, entries = excluded.entries, version = presence.version + 1`);
  for (const table of [sql`presence`, sql`scan`, sql`change`]) await checkin.run(sql`vacuum analyze ${table}`);
}

/** The limit of exports: the database alone writes the same columns. */
function copyScans(db: Db): Promise<unknown> {
  return db.run(sql`
    copy (select scan.id, scan.at, scan.created_at, scan.type, scan.successful, scan.reason, scan.explanation, scan.list, scan.position,
                 position.order_code, position.positionid, position.item, position.variation, position.subevent, position.attendee_name,
                 scan.gate, scan.device, scan.device_id, scan.auto_checked_in
            from checkin.scan
            left join checkin.position
              on position.organizer = scan.organizer and position.event = scan.event and position.id = scan.position
           where scan.organizer = 'bench' and scan.event = 'festival') to '/dev/null'`);
}

/** Reads an export to its end; the head of a table is no line. */
async function readExport(platform: Platform, query: string) {
  const before = await readProcessors(platform);
  const started = performance.now();
  const answer = await fetch(`${platform.baseUrl}${eventPath}/checkins/export/?${query}`, {
    headers: { authorization: `Token ${apiKey}`, "accept-encoding": "identity" },
  });
  if (!answer.ok || answer.body === null) throw new Error(`the export answered ${answer.status}`);
  let [lines, bytes] = [query === "" ? 0 : -1, 0];
  for await (const chunk of answer.body) {
    const read = Buffer.from(chunk as Uint8Array);
    bytes += read.length;
    for (let at = read.indexOf(10); at !== -1; at = read.indexOf(10, at + 1)) lines += 1;
  }
  const seconds = (performance.now() - started) / 1000;
  const after = await readProcessors(platform);
  const used = { ours: after.ours - before.ours, postgres: after.postgres - before.postgres };
  return { lines, seconds, megabytes: bytes / 1e6, used };
}

/** How long scans take meanwhile. */
function measureGates(platform: Platform, tickets: number): Promise<Row[]> {
  const { baseUrl, progress } = platform;
  return withLoad({ baseUrl }, async (load) => {
    // Most are refused: these tickets are in.
    let firstTicket = 2;
    const scanUntil = async (until: Promise<unknown>) => {
      const { p99, nextTicket } = await load.run({ ...gates, firstTicket }, until);
      firstTicket = nextTicket < tickets / 2 ? nextTicket : 2;
      return p99;
    };
    progress.update("scanning alone…");
    await scanUntil(sleep(gates.quietMs / 2));
    const quiet = await scanUntil(sleep(gates.quietMs));
    const limit = quiet * promised.slower;
    progress.update("scanning beside exports…");
    const besideExport = await scanUntil(readExport(platform, "").then(() => readExport(platform, "")));
    progress.update("scanning beside reports…");
    const url = `${baseUrl}${eventPath}/checkins/report/?date=${date}`;
    const besideReport = await scanUntil(ask(url).then(() => ask(url)));
    return [
      figure("scans of the same event, p99, alone", `${short(quiet)} ms`),
      atMost("  beside an export", besideExport, limit, "ms"),
      atMost("  beside a report", besideReport, limit, "ms"),
    ];
  });
}
