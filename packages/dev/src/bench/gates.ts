import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "@tessera/cli/simulate/quantile";
import { sql } from "@tessera/kit/pg/sql";
import { Pack } from "@tessera/values";
import { ask, eventPath, organizerPath, sendRecords, timed } from "./client.ts";
import { filledSecret, fillLargeEvent, wasScanned } from "./large-event.ts";
import { withLoad } from "./load.ts";
import { inOneProcess, onKafka, type Platform } from "./platform.ts";
import { apiKey, gate } from "./records.ts";
import { measurePgbench } from "./reference.ts";
import { atLeast, atMost, figure, type Row, report, short } from "./report.ts";
import { processorSeconds } from "./usage.ts";

/** What is promised. */
const promised = {
  ...{
    linesPerSecond: 50_000,
    heardMs: 2000,
    packMegabytes: 4,
    packSeconds: 5,
    singleMs: 50,
    uploadsPerSecond: 10_000,
  },
  percentOfPgbench: { "in one process": 75, "with a process for each service, on Kafka": 50 },
} as const;

/** Presences of each ticket that the reader has to hear of. */
const changesEach = 10;

/** Gates that wait for changes while scans come in. */
const gates = { readers: 200, scansPerSecond: 200, seconds: 20 } as const;

const headers = { authorization: `Token ${apiKey}` };

/** Uploads at once, each of as many scans as one may have, and single scans beside them. */
const uploads = { atOnce: 4, scans: 500, singlePerSecond: 50, referenceSeconds: 8 } as const;

/** Copies and follows an event with many tickets, as gates do, and uploads scans of them. */
export async function benchGates(tickets: number): Promise<void> {
  const rows = await inOneProcess(async (platform) => {
    await fill(platform, tickets);
    const pack = await measurePack(platform, tickets);
    return [...pack, ...(await measureFeed(platform, tickets))];
  });
  for (const [name, run] of [
    ["in one process", inOneProcess],
    ["with a process for each service, on Kafka", onKafka],
  ] as const) {
    rows.push(
      ...(await run(async (platform) => {
        await fill(platform, tickets);
        return measureUploads(name, platform, tickets);
      })),
    );
  }
  report(rows);
}

async function fill({ baseUrl, progress, open }: Platform, tickets: number): Promise<void> {
  await sendRecords(baseUrl, gate);
  await fillLargeEvent(open("checkin"), { tickets, progress });
}

/** Reads all packs of the event. */
async function measurePack({ baseUrl, progress }: Platform, tickets: number): Promise<Row[]> {
  progress.update("packing…");
  let [read, bytes] = [0, 0];
  const ms = await timed(async () => {
    for (let from: string | null = ""; from !== null; ) {
      const answer = await fetch(`${baseUrl}${eventPath}/pack/?from=${from}`, { headers });
      if (!answer.ok) throw new Error(`the pack answered ${answer.status}`);
      const sent = new Uint8Array(await answer.arrayBuffer());
      const pack = new Pack(sent);
      from = pack.info["next"] as string | null;
      read += pack.size;
      bytes += sent.length;
    }
  });
  if (read !== tickets) throw new Error(`the pack had ${read} of ${tickets} tickets`);
  return [
    atMost(`pack of ${tickets} tickets`, bytes / 1e6, (promised.packMegabytes * tickets) / 100_000, "MB"),
    atMost("  made and read", ms / 1000, (promised.packSeconds * tickets) / 100_000, "s"),
  ];
}

/** Uploads two fifths of the tickets alone, and half of them beside single scans. */
async function measureUploads(
  name: keyof typeof promised.percentOfPgbench,
  platform: Platform,
  tickets: number,
): Promise<Row[]> {
  const { baseUrl, progress } = platform;
  progress.update("measuring pgbench…");
  const pgbench = await measurePgbench(platform, { seconds: uploads.referenceSeconds });
  const unscanned = Array.from({ length: tickets }, (_, index) => index + 1).filter((id) => id > 1 && !wasScanned(id));
  const [warm, alone, beside] = [0.1, 0.4, 0.4].map((share) =>
    unscanned.splice(0, Math.floor((unscanned.length * share) / uploads.scans) * uploads.scans),
  );
  progress.update("uploading…");
  await upload(baseUrl, warm ?? []);
  const before = await processorSeconds(platform);
  const ms = await upload(baseUrl, alone ?? []);
  const used = (await processorSeconds(platform)) - before;
  const single = await withLoad({ baseUrl }, async (load) => {
    const first = { perSecond: uploads.singlePerSecond, firstTicket: unscanned[0] ?? 0 };
    const { nextTicket } = await load.run({ ...first, seconds: 2 });
    const ended = upload(baseUrl, beside ?? []);
    return load.run({ ...first, firstTicket: nextTicket, seconds: 60 }, ended);
  });
  const perSecond = ((alone?.length ?? 0) * 1000) / ms;
  const isAlone = name === "in one process";
  return [
    {
      ...figure(`scans in uploads ${name}`, `${short(perSecond)} a second; pgbench ${short(pgbench)}`),
      ...(isAlone && { promised: `${promised.uploadsPerSecond}`, isKept: perSecond >= promised.uploadsPerSecond }),
    },
    atLeast("  ratio to pgbench", (100 * perSecond) / pgbench, promised.percentOfPgbench[name], "%"),
    figure("  processor time of a scan, with PostgreSQL", `${short((used / (alone?.length ?? 1)) * 1e6)} µs`),
    atMost(`  p99 of single scans beside ${beside?.length} in uploads`, single.p99, promised.singleMs, "ms"),
  ];
}

/** Uploads a scan of each of these tickets; returns how long it took, in milliseconds. */
function upload(baseUrl: string, tickets: readonly number[]): Promise<number> {
  const parts = Array.from({ length: Math.ceil(tickets.length / uploads.scans) }, (_, part) =>
    tickets.slice(part * uploads.scans, (part + 1) * uploads.scans),
  );
  const send = async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const scans = part.map((id) => ({ secret: filledSecret(id), nonce: `upload-${id}` }));
      for (let from = 0; from < scans.length; ) {
        const url = `${baseUrl}${organizerPath}/checkinrpc/redeem_batch/?fields=status,reason`;
        const { results, next } = await ask<Uploaded>(url, { lists: [1], scans: scans.slice(from) });
        const refused = results.find(({ status }) => status !== 201);
        if (refused !== undefined) throw new Error(`a scan was answered ${JSON.stringify(refused)}`);
        from += next ?? results.length;
      }
    }
  };
  return timed(() => Promise.all(Array.from({ length: uploads.atOnce }, send)));
}

interface Uploaded {
  readonly results: readonly { readonly status: number }[];
  readonly next: number | null;
}

/** Measures the feed of the event, to which presences on further lists are added. */
async function measureFeed(platform: Platform, tickets: number): Promise<Row[]> {
  const { progress, open } = platform;
  progress.update("copying…");
  const copy = await readAll(platform, "");
  progress.update("changing…");
  const checkin = open("checkin");
  await checkin.run(sql`
    insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
    select position.organizer, position.event, position.id, 1000 + list.number, 1, 1, 'entry', now()
      from position
     cross join generate_series(1, ${changesEach}) as list (number)
     where position.organizer = 'bench' and position.event = 'festival'`);
  // Not while it is measured.
  for (const table of [sql`presence`, sql`change`]) await checkin.run(sql`vacuum analyze ${table}`);
  progress.update("following…");
  const changes = await readAll(platform, copy.cursor);
  if (changes.lines < tickets * changesEach) throw new Error(`the feed had ${changes.lines} changes`);
  const heard = await measureGates(platform, changes.cursor);
  return [
    figure(`copy of ${tickets} tickets`, `${short(copy.seconds)} s, ${short(copy.megabytes)} MB`),
    figure("  lines a second", short(copy.lines / copy.seconds)),
    figure("  processor time of a line, with PostgreSQL", `${short((copy.cpuSeconds / copy.lines) * 1e6)} µs`),
    atLeast(`${changes.lines} changes, to one reader`, changes.lines / changes.seconds, promised.linesPerSecond, "/s"),
    figure("  processor time of a line, with PostgreSQL", `${short((changes.cpuSeconds / changes.lines) * 1e6)} µs`),
    ...heard,
  ];
}

interface ReadFeed {
  readonly lines: number;
  readonly seconds: number;
  readonly megabytes: number;
  readonly cpuSeconds: number;
  readonly cursor: string;
}

/** Reads to the end, in as many answers as that takes: each ends after a minute. */
async function readAll(platform: Platform, after: string): Promise<ReadFeed> {
  const before = await processorSeconds(platform);
  const started = performance.now();
  let [lines, bytes, cursor] = [0, 0, after];
  for (let isOver = false; !isOver; ) {
    const answer = await readAnswer(platform, cursor);
    lines += answer.lines;
    bytes += answer.bytes;
    cursor = answer.cursor;
    // That of the cursor alone.
    isOver = answer.lines === 1;
  }
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = (await processorSeconds(platform)) - before;
  return { lines, seconds, megabytes: bytes / 1e6, cpuSeconds, cursor };
}

async function readAnswer(
  { baseUrl }: Platform,
  after: string,
): Promise<{ lines: number; bytes: number; cursor: string }> {
  const answer = await fetch(`${baseUrl}${organizerPath}/sync/?after=${after}`, {
    headers: { ...headers, "accept-encoding": "identity" },
  });
  if (!answer.ok || answer.body === null) throw new Error(`the feed answered ${answer.status}`);
  let [lines, bytes, end] = [0, 0, Buffer.alloc(0)];
  for await (const chunk of answer.body) {
    const read = Buffer.from(chunk);
    bytes += read.length;
    for (let at = read.indexOf(10); at !== -1; at = read.indexOf(10, at + 1)) lines += 1;
    end = Buffer.concat([end, read]).subarray(-20_000);
  }
  const last = end.toString().trimEnd().split("\n").at(-1) ?? "";
  const { cursor } = JSON.parse(last) as { readonly cursor: string };
  return { lines, bytes, cursor };
}

/** Scans as a gate does, which comes again after a 429. */
async function scanUntilDecided(url: string): Promise<{ readonly position: { readonly id: number } }> {
  for (;;) {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ type: "entry" }),
    });
    const body = (await answer.json()) as { readonly position: { readonly id: number } };
    if (answer.status === 201) return body;
    if (answer.status !== 429) throw new Error(`a scan was answered ${answer.status}`);
    await sleep(1000);
  }
}

/** How long after the answer to a scan each gate has heard of it. */
async function measureGates(platform: Platform, from: string): Promise<Row[]> {
  const { baseUrl, progress } = platform;
  progress.update(`scanning, with ${gates.readers} gates…`);
  const answeredAt = new Map<number, number>();
  const heardAt: { readonly ticket: number; readonly at: number }[] = [];
  const over = new AbortController();
  const follow = async () => {
    for (let cursor = from; !over.signal.aborted; ) {
      const answer = await fetch(`${baseUrl}${organizerPath}/sync/?after=${cursor}&wait=25`, {
        headers,
        signal: over.signal,
      });
      const text = await answer.text();
      const at = performance.now();
      for (const [, ticket] of text.matchAll(/"kind":"presence","event":"festival","id":(\d+)/g))
        heardAt.push({ ticket: Number(ticket), at });
      cursor =
        /"kind":"cursor","cursor":"([^"]+)"/.exec(text.slice(text.lastIndexOf('{"kind":"cursor"')))?.[1] ?? cursor;
    }
  };
  const following = Array.from({ length: gates.readers }, () => follow().catch(() => {}));
  await sleep(2000);
  const before = await processorSeconds(platform);
  const scans: Promise<unknown>[] = [];
  const count = gates.scansPerSecond * gates.seconds;
  const started = performance.now();
  for (let [sent, ticket] = [0, 2]; sent < count; ticket += 1) {
    if (wasScanned(ticket)) continue;
    sent += 1;
    await sleep(Math.max(0, started + (sent * 1000) / gates.scansPerSecond - performance.now()));
    const answered = scanUntilDecided(
      `${baseUrl}${eventPath}/checkinlists/1/positions/${filledSecret(ticket)}/redeem/`,
    );
    scans.push(answered.then(({ position }) => answeredAt.set(position.id, performance.now())));
  }
  await Promise.all(scans);
  await sleep(4000);
  const used = (await processorSeconds(platform)) - before;
  over.abort();
  await Promise.all(following);
  const late = heardAt.flatMap(({ ticket, at }) => {
    const answered = answeredAt.get(ticket);
    return answered === undefined ? [] : [Math.max(0, at - answered)];
  });
  if (late.length < count * gates.readers) throw new Error(`${late.length} of ${count * gates.readers} were heard`);
  return [
    atMost(
      `${gates.scansPerSecond} scans a second, heard by ${gates.readers} gates; p99`,
      ...([quantile(late, 0.99), promised.heardMs, "ms"] as const),
    ),
    figure("  p50", `${short(quantile(late, 0.5))} ms`),
    figure("  of two processors, with PostgreSQL", `${short((50 * used) / (gates.seconds + 4))} %`),
  ];
}
