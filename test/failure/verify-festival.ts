import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { eventPath } from "../e2e/sample-records.ts";
import { checkAlarms } from "./check-alarms.ts";
import { checkCounts, type ShownStatus, type StoredPosition } from "./check-counts.ts";
import { checkFacts } from "./check-facts.ts";
import { checkRecords, type ShownPosition } from "./check-records.ts";
import { checkScans, type StoredScan } from "./check-scans.ts";
import { readLedger, readParked, readToldScans, waitForEmptyOutboxes } from "./fact-ledger.ts";
import { apiKey, type Edition, type Festival, lists, nearLimit } from "./festival.ts";
import { sendScan } from "./gates.ts";
import type { Attempt } from "./scan-history.ts";

export interface FestivalEvidence {
  readonly baseUrl: string;
  readonly db: Db;
  readonly festival: Festival;
  /** The last festival whose import was answered. */
  readonly edition: Edition;
  readonly attempts: readonly Attempt[];
  /** The test has published broken facts. */
  readonly poisoned?: boolean;
  /** The bus has lost facts, and everything was republished: then only the results count, not the facts. */
  readonly toldAgain?: boolean;
}

/** Temporary files are removed with the run, and what contradicts is rare. */
const keptIn = join(import.meta.dirname, "../../node_modules/.cache/tessera-evidence");

/** Compares all answers with everything that is stored and shown; returns each contradiction. */
export async function verifyFestival({
  baseUrl,
  db,
  festival,
  edition,
  attempts,
  poisoned = false,
  toldAgain = false,
}: FestivalEvidence): Promise<string[]> {
  const replayed = await replaySome({ baseUrl, festival, attempts });
  const waiting = await waitForEmptyOutboxes(db, 60_000);
  const parked = await readParked(db);
  const scans = await readScans(db);
  const positions = await readPositions(db);
  const fleeting = new Set(festival.fleeting.map(({ position }) => position));
  const counts = await Promise.all(
    Object.values(lists).map(async (list) =>
      checkCounts({ list, shown: await readStatus(baseUrl, list.id), positions, scans }),
    ),
  );
  const found = [
    ...replayed,
    ...checkScans({ attempts, stored: scans, lists: Object.values(lists), fleeting }),
    ...(toldAgain ? [] : checkFacts(await readLedger(db, { waiting }))),
    ...(poisoned ? [] : parked.map(({ consumer, key, cause }) => `${consumer} has parked ${key}: ${cause}`)),
    ...checkTold(await readToldScans(db), scans, { again: toldAgain }),
    ...counts.flat(),
    ...(await checkPersons(db)),
    ...(toldAgain ? [] : await checkAlarms(db, { limited: nearLimit })),
    ...checkRecords(edition.positions, await readAllPositions(baseUrl)),
    ...(await checkKeys(baseUrl, edition)),
  ];
  if (found.length === 0) return [];
  await mkdir(keptIn, { recursive: true });
  const file = join(await mkdtemp(join(keptIn, "history-")), "history.jsonl");
  await writeFile(file, [...attempts, ...scans, ...positions].map((line) => JSON.stringify(line)).join("\n"));
  return [...found, `what was sent, heard and stored is in ${file}`];
}

/** A repetition of an admitted scan is admitted, and not stored again. */
async function replaySome({
  baseUrl,
  festival,
  attempts,
}: Pick<FestivalEvidence, "baseUrl" | "festival" | "attempts">): Promise<string[]> {
  const tickets = new Map([...festival.tickets, ...festival.spare].map((ticket) => [ticket.position, ticket]));
  const admitted = attempts.filter(({ outcome, scan }) => outcome.kind === "admitted" && tickets.has(scan.position));
  const every = Math.max(1, Math.floor(admitted.length / 40));
  const answers = admitted
    .filter((_, index) => index % every === 0)
    .map(async ({ scan }) => {
      const ticket = tickets.get(scan.position);
      if (ticket === undefined) return [];
      const { outcome } = await sendScan({ baseUrl, scan, ticket });
      return outcome.kind === "admitted" ? [] : [`scan ${scan.nonce}, sent again, is ${JSON.stringify(outcome)}`];
    });
  return (await Promise.all(answers)).flat();
}

/** Every stored scan is published once, unless all are republished. A published scan that is not stored was deleted with its ticket. */
function checkTold(told: readonly number[], scans: readonly StoredScan[], { again }: { again: boolean }): string[] {
  const times = Map.groupBy(told, (id) => id);
  const untold = scans.filter(({ id }) => !times.has(id));
  const twice = [...times.values()].filter((all) => all.length > 1);
  return [
    ...(untold.length > 0 ? [`${untold.length} scans are stored without a fact`] : []),
    ...(twice.length > 0 && !again ? [`${twice.length} scans have several facts`] : []),
  ];
}

/** The persons inside of each list are counted as its presences have them. */
async function checkPersons(db: Db): Promise<string[]> {
  const rows = await db.many<{ list: number; counted: number; present: number }>(sql`
    select held.list, held.persons as counted,
           (select count(*)
              from checkin.presence
             where presence.organizer = held.organizer
               and presence.event = held.event
               and presence.list = held.list
               and presence.last_type = 'entry') as present
      from checkin.persons_inside as held`);
  return [
    ...(rows.length < Object.values(lists).length ? [`the persons inside of ${rows.length} lists are counted`] : []),
    ...rows
      .filter(({ counted, present }) => counted !== present)
      .map(({ list, counted, present }) => `list ${list} counts ${counted} persons inside, and has ${present}`),
  ];
}

async function readScans(db: Db): Promise<StoredScan[]> {
  return db.many<StoredScan>(sql`
    select scan.id, scan.list, scan.position, scan.type, scan.successful, scan.reason, scan.nonce, scan.at
      from checkin.scan
     order by scan.id`);
}

async function readPositions(db: Db): Promise<StoredPosition[]> {
  return db.many<StoredPosition>(sql`
    select position.id, position.item, position.variation, position.canceled, position.order_status as "orderStatus",
           position.valid_if_pending as "validIfPending"
      from checkin.position
     where position.event = 'sampleconf'`);
}

async function read<T>(baseUrl: string, path: string, key = apiKey): Promise<{ status: number; body: T }> {
  const response = await fetch(`${baseUrl}${eventPath}${path}`, {
    headers: { authorization: `Token ${key}` },
    signal: AbortSignal.timeout(10_000),
  });
  return { status: response.status, body: (await response.json()) as T };
}

async function readStatus(baseUrl: string, list: number): Promise<ShownStatus> {
  const { status, body } = await read<ShownStatus>(baseUrl, `/checkinlists/${list}/status/`);
  if (status !== 200) throw new Error(`status/ is answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

async function readAllPositions(baseUrl: string): Promise<ShownPosition[]> {
  const shown: ShownPosition[] = [];
  for (let page = 1; page < 1000; page += 1) {
    const { status, body } = await read<{ results: ShownPosition[]; next: string | null }>(
      baseUrl,
      `/checkinlists/1/positions/?ignore_status=true&ordering=order__code&page=${page}`,
    );
    if (status !== 200) throw new Error(`page ${page} is answered ${status}: ${JSON.stringify(body)}`);
    shown.push(...body.results);
    if (body.next === null) break;
  }
  return shown;
}

async function checkKeys(baseUrl: string, { keys }: Edition): Promise<string[]> {
  const found: string[] = [];
  for (const [key, active] of keys) {
    const { status } = await read(baseUrl, "/checkinlists/", key);
    if (status !== (active ? 200 : 401))
      found.push(`a key that is ${active ? "active" : "switched off"} is answered ${status}`);
  }
  return found;
}
