import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { columns } from "@tessera/cli/columns";
import { type Progress, showProgress } from "@tessera/cli/progress";
import { startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { createLog } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import getPort from "get-port";
import { startServing } from "../serving-process.ts";
import { fillLargeEvent, largeEvent } from "./reads-material.ts";

const operatorKey = "bench-operator-key-of-reads";
const apiKey = "bench-api-key-of-reads";

/** What is promised of four readers at once. */
const promisedMs = 200;

const readersAtOnce = [1, 4, 10];

/** Of each kind of request and number of readers, in all. */
const requestsEach = 40;

/** Reads pages of lists, searches and history of one large event over REST, beside a small event. */
export async function benchReads({ tickets }: { readonly tickets: number }): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-bench-"));
  const progress = showProgress();
  const postgres = await startEmbeddedPostgres({ directory });
  const port = await getPort({ host: "127.0.0.1" });
  const baseUrl = `http://127.0.0.1:${port}`;
  const platform = await startServing(
    ["all", "--port", String(port), "--data", join(directory, "platform"), "--database-url", postgres.url],
    { url: `${baseUrl}/api/v1/openapi.json`, environment: { TESSERA_OPERATOR_KEY: operatorKey } },
  );
  const checkin = openDatabase({
    url: postgres.url,
    schema: "checkin",
    role: roleOf("checkin"),
    applicationName: "bench",
    log: createLog({ service: "bench", level: "warn", destination: process.stderr }),
    statementTimeoutMs: 600_000,
  });
  try {
    await importSeed(baseUrl);
    await fillLargeEvent(checkin, {
      tickets,
      onFilled: (filled) => progress.update(`filling… ${filled} of ${tickets}`),
    });
    progress.update("vacuuming…");
    for (const table of [sql`position`, sql`presence`, sql`scan`, sql`count_delta`])
      await checkin.run(sql`vacuum analyze ${table}`);
    const floor = await measureFloor(checkin, tickets);
    const measured = await measureAll(baseUrl, { tickets, progress });
    progress.done();
    print({ tickets, floor, measured });
    const atFour = measured.filter(({ readers }) => readers === 4);
    if (atFour.some(({ p50, failed }) => p50 > promisedMs || failed > 0)) process.exitCode = 1;
  } finally {
    progress.done();
    await checkin.close();
    await platform.stop();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function importSeed(baseUrl: string): Promise<void> {
  const { organizer, event, small } = largeEvent;
  const line = (kind: string, data: Record<string, unknown>, slug?: string) =>
    JSON.stringify({ kind, organizer, ...(slug === undefined ? {} : { event: slug }), data });
  const ofEvent = (slug: string, list: number) => [
    line(
      "event",
      {
        slug,
        name: { en: slug },
        live: true,
        currency: "EUR",
        timezone: "Europe/Berlin",
        date_from: "2027-07-01T10:00:00Z",
        has_subevents: false,
      },
      slug,
    ),
    ...[1, 2].map((id) =>
      line(
        "item",
        {
          id,
          name: { en: `Ticket ${id}` },
          default_price: "99.00",
          admission: true,
          active: true,
          variations: [],
          addons: [],
          bundles: [],
        },
        slug,
      ),
    ),
    line("checkin_list", { id: list, name: "All", all_products: true, limit_products: [] }, slug),
    line(
      "checkin_list",
      { id: list + 1, name: "Rules", all_products: true, limit_products: [], rules: onceADay },
      slug,
    ),
    line("order", seedOrder(list), slug),
  ];
  const lines = [
    line("organizer", { slug: organizer, name: "Bench" }),
    line("api_key", { token: apiKey, name: "bench", permissions: ["*"], all_events: true }),
    ...ofEvent(event, 1),
    ...ofEvent(small, 3),
  ];
  const response = await fetch(`${baseUrl}/api/v1/import/`, {
    method: "POST",
    headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
    body: `${lines.join("\n")}\n`,
  });
  const answer = (await response.json()) as { rejected?: number };
  if (response.status !== 200 || answer.rejected !== 0)
    throw new Error(`the import answered ${response.status}: ${JSON.stringify(answer)}`);
  for (const url of [`${event}/checkinlists/1/`, `${small}/checkinlists/3/`])
    await untilCounted(`${baseUrl}${pathTo(url)}`);
}

/** Those who are inside, or were here today, are refused: it asks for the scans of every ticket. */
const onceADay = { and: [{ "==": [{ var: "entries_today" }, 0] }, { "==": [{ var: "entry_status" }, "absent"] }] };

function seedOrder(list: number): Record<string, unknown> {
  const name = "Seed Ticket";
  const ticket = {
    id: 1,
    positionid: 1,
    item: 1,
    variation: null,
    price: "99.00",
    attendee_name: name,
    attendee_name_parts: { full_name: name },
    attendee_email: null,
    secret: `seed${list}`,
    pseudonymization_id: `SEED${list}`,
    tax_rate: "19.00",
    tax_value: "15.81",
    addon_to: null,
    subevent: null,
  };
  return {
    code: `SEED${list}`,
    status: "p",
    email: "seed@example.org",
    locale: "en",
    sales_channel: "web",
    datetime: "2027-01-01T12:00:00.000Z",
    total: "99.00",
    positions: [ticket],
  };
}

const pathTo = (rest: string) => `/api/v1/organizers/${largeEvent.organizer}/events/${rest}`;

const headers = { authorization: `Token ${apiKey}` };

async function untilCounted(url: string): Promise<void> {
  for (let waited = 0; waited < 300; waited += 1) {
    const list = (await (await fetch(url, { headers })).json()) as { position_count?: number };
    if (list.position_count === 1) return;
    await sleep(100);
  }
  throw new Error("the first ticket was not counted within half a minute");
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
  const requests: readonly (readonly [string, string])[] = [
    ["first page", positions],
    ["deep page", `${positions}?page=${Math.ceil(tickets / 100)}`],
    ["last page", `${positions}?page=last`],
    ["search=anna", `${positions}?search=anna`],
    ["search=@example", `${positions}?search=%40example`],
    ["search of one ticket", `${positions}?search=${Math.floor(tickets / 3)}%40`],
    ["search=an", `${positions}?search=an`],
    ["item=", `${positions}?item=2`],
    ["has_checkin=false", `${positions}?has_checkin=false`],
    ["has_checkin=true", `${positions}?has_checkin=true`],
    ["check_rules", `${ruled}?check_rules=true`],
    ["-order__datetime", `${positions}?ordering=-order__datetime`],
    ["order__code", `${positions}?ordering=order__code`],
    ["order__email", `${positions}?ordering=order__email`],
    ["positionid", `${positions}?ordering=positionid`],
    ["attendee_name", `${positions}?ordering=attendee_name`],
    ["-attendee_name", `${positions}?ordering=-attendee_name`],
    ["last_checked_in", `${positions}?ordering=last_checked_in`],
    ["-last_checked_in", `${positions}?ordering=-last_checked_in`],
    ["history, newest", `${largeEvent.event}/checkins/?ordering=-created`],
    ["history, last page", `${largeEvent.event}/checkins/?page=last`],
    ["a small event", `${largeEvent.small}/checkinlists/3/positions/`],
  ];
  const measured: Measured[] = [];
  for (const [request, path] of requests) {
    for (const readers of readersAtOnce) {
      progress.update(`${request}, ${readers} at once…`);
      measured.push({ request, readers, ...(await measure(`${baseUrl}${pathTo(path)}`, readers)) });
    }
  }
  return measured;
}

async function measure(url: string, readers: number): Promise<Pick<Measured, "p50" | "p95" | "failed">> {
  await ask(url);
  const times: number[] = [];
  let failed = 0;
  const each = Math.ceil(requestsEach / readers);
  await Promise.all(
    Array.from({ length: readers }, async () => {
      for (let round = 0; round < each; round += 1) {
        const started = performance.now();
        if ((await ask(url)) !== 200) failed += 1;
        times.push(performance.now() - started);
      }
    }),
  );
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), failed };
}

async function ask(url: string): Promise<number> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

function quantile(times: readonly number[], part: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
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
    return [kind, ...cells, `${((four?.p50 ?? 0) / floor).toFixed(0)}`];
  });
  const heading = ["p50 / p95", ...readersAtOnce.map((readers) => `${readers} at once`), "ratio at 4"];
  process.stdout.write(
    `${tickets} tickets; a bare read of fifty by their keys takes ${floor.toFixed(1)} ms (ratio 1); promised: p50 of four readers below ${promisedMs} ms\n\n${columns([heading, ...rows])}\n`,
  );
}
