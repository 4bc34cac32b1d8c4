import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { noisy, noisyDevice, noisyKey, noisyLists, noisyOrder, noisySecret, ofNoisyEvent } from "./noisy-records.ts";

/** The ways in which one organizer does its worst. */
export const noises = ["scans", "reads", "connections", "bodies", "values", "records", "viewers"] as const;
export type Noise = (typeof noises)[number];

export interface NoiseTarget {
  readonly baseUrls: readonly string[];
  /** Records come through the shop's server, which has this key. */
  readonly operatorKey: string;
  /** The part of all loops that are made: what makes the noise takes time of the processors, too. */
  readonly volume: number;
}

/** One request, or one connection until its end; returns a word for its result. */
type Shot = (round: number) => Promise<string>;

const place = `/api/v1/organizers/${noisy.organizer}/events/${noisy.event}`;
const longestMs = 20_000;

/** Loops that are under way at the same time: how many of each shot. */
function shotsOf(noise: Noise, target: NoiseTarget): readonly (readonly [parallel: number, shot: Shot])[] {
  const baseUrl = (round: number) => target.baseUrls[round % target.baseUrls.length] ?? "";
  const send = async (
    round: number,
    path: string,
    {
      as = `Token ${noisyKey}`,
      ...init
    }: { as?: string; method?: string; body?: RequestInit["body"]; type?: string } = {},
  ) => {
    const response = await fetch(`${baseUrl(round)}${path}`, {
      method: init.method ?? (init.body === undefined ? "GET" : "POST"),
      headers: { authorization: as, "content-type": init.type ?? "application/json" },
      body: init.body ?? null,
      ...(init.body instanceof ReadableStream ? { duplex: "half" } : {}),
      signal: AbortSignal.timeout(longestMs),
    });
    await response.arrayBuffer();
    return String(response.status);
  };
  const redeem = (
    round: number,
    { list, secret, query = "", body }: { list: number; secret: string; query?: string; body: unknown },
  ) =>
    send(round, `${place}/checkinlists/${list}/positions/${secret}/redeem/${query}`, {
      as: `Device ${noisyDevice}`,
      body: JSON.stringify(body),
    });
  const get = (round: number, path: string) => send(round, `${place}${path}`);
  const positions = (list: number, query: string) => `/checkinlists/${list}/positions/?${query}`;
  const { once, often, heavy } = noisyLists;
  const records = (round: number, lines: readonly unknown[]) =>
    send(round, "/api/v1/import/", {
      as: `Token ${target.operatorKey}`,
      type: "application/x-ndjson",
      body: lines.map((line) => JSON.stringify(line)).join("\n"),
    });
  const anyScan = `${place}/checkinlists/${once}/positions/x/redeem/`;

  const watch = `GET ${place}/live/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${noisyKey}\r\nAccept: text/event-stream\r\n\r\n`;

  const all: Readonly<Record<Noise, readonly (readonly [number, Shot])[]>> = {
    scans: [
      // One ticket, again and again: entries with a long history, and exits that are always admitted.
      [32, (round) => redeem(round, { list: often, secret: noisySecret(1), body: {} })],
      [32, (round) => redeem(round, { list: once, secret: noisySecret(2), body: { type: "exit" } })],
      // Other tickets, with all that an answer may hold.
      [24, (round) => redeem(round, { list: often, secret: noisySecret(round), query: "?expand=item", body: {} })],
      [8, (round) => redeem(round, { list: heavy, secret: noisySecret(round), body: {} })],
      [
        4,
        (round) =>
          redeem(round, { list: often, secret: noisySecret(round), body: { answers: { 1: "x".repeat(60_000) } } }),
      ],
      [8, (round) => redeem(round, { list: often, secret: `unknown-${round}`, body: {} })],
    ],
    reads: [
      [30, (round) => get(round, positions(once, "search=example.org&ignore_status=true&ordering=-attendee_name"))],
      [10, (round) => get(round, positions(heavy, "check_rules=true&ignore_status=true"))],
      [10, (round) => get(round, `/checkins/?page=${1 + (round % 40)}`)],
      [10, (round) => get(round, `/checkinlists/${often}/status/`)],
    ],
    connections: [
      [4, () => talk(target, `GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(1400))],
      [
        4,
        (round) =>
          send(round, "/api/v1/organizers/none/events/none/checkinlists/", {
            as: `Token ${randomBytes(32).toString("hex")}`,
          }),
      ],
      // They ask for a large page and read nothing, or say nothing at all.
      [20, () => talk(target, "GET /docs/standalone.js HTTP/1.1\r\nHost: x\r\n\r\n", { reads: false })],
      [200, () => talk(target, "")],
    ],
    bodies: [
      [2, (round) => send(round, anyScan, { type: "application/x-www-form-urlencoded", body: "a=1&".repeat(200_000) })],
      [2, (round) => send(round, anyScan, { body: `{"answers":{"1":[${"[],".repeat(400_000)}[]]}}` })],
      [
        2,
        (round) =>
          send(round, `${place}/checkinlists/`, { body: `{"name":"x","limit_products":[${"1,".repeat(120_000)}1]}` }),
      ],
      [
        4,
        () =>
          talk(
            target,
            `POST ${anyScan} HTTP/1.1\r\nHost: x\r\nAuthorization: Device ${noisyDevice}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(100_000)}`,
          ),
      ],
      [2, (round) => send(round, "/api/v1/upload", { type: "image/png", body: randomBytes(1_000_000) })],
    ],
    // As many as a layout may hold, and many more.
    values: [
      [2, (round) => send(round, `${place}/ticketlayouts/`, { body: manyFields(35_000) })],
      [2, (round) => send(round, `${place}/ticketlayouts/preview/`, { body: deepLists(650) })],
      [1, (round) => send(round, `${place}/ticketlayouts/`, { body: manyFields(310_000) })],
    ],
    viewers: [
      // More than one organizer may have, and half of them read nothing.
      [300, () => talk(target, watch)],
      [300, () => talk(target, watch, { reads: false })],
      [20, (round) => get(round, "/live/")],
      [20, (round) => get(round, "/live/hour/")],
      [2, (round) => get(round, "/checkins/export/")],
      [2, (round) => get(round, "/checkins/report/")],
    ],
    records: [
      [
        1,
        (round) =>
          records(
            round,
            Array.from({ length: 300 }, (_, index) => noisyOrder(index, { attendee_name: `Round ${round}` })),
          ),
      ],
      [1, (round) => records(round, [largeQuestion(round)])],
      [
        1,
        (round) =>
          records(
            round,
            Array.from({ length: 4 }, (_, index) => orderOfManyScans(round, index)),
          ),
      ],
      [
        1,
        (round) =>
          send(round, "/api/v1/import/", {
            as: `Token ${target.operatorKey}`,
            type: "application/x-ndjson",
            body: blankLines,
          }),
      ],
    ],
  };
  return all[noise];
}

const manyFields = keepOne((count) => `{${numbered(count, (at) => `"k${at}":1`)}}`);
const deepLists = keepOne((count) => `{"parts":[${numbered(count, () => "[".repeat(58) + "]".repeat(58))}]}`);

function numbered(count: number, part: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => part(at)).join();
}

/** Making a text of megabytes for each request would slow down its sender. */
function keepOne(make: (count: number) => string): (count: number) => string {
  const made = new Map<number, string>();
  return (count) => {
    const text = made.get(count) ?? make(count);
    made.set(count, text);
    return text;
  };
}

const blankLines = gzipSync(Buffer.alloc(3_000_000, "\n"));

/** A fact of some megabytes. */
function largeQuestion(round: number): unknown {
  const options = Array.from({ length: 3000 }, (_, index) => ({
    id: index + 1,
    identifier: `O${index}`,
    position: index,
    answer: { en: randomBytes(450).toString("hex") },
  }));
  return ofNoisyEvent("question", {
    id: 1 + (round % 3),
    question: { en: "Which?" },
    type: "C",
    required: false,
    position: 1,
    items: [1],
    options,
  });
}

function orderOfManyScans(round: number, index: number): unknown {
  const id = 100_000 + index;
  return noisyOrder(id, {
    checkins: Array.from({ length: 500 }, (_, scan) => ({
      id: 10_000_000 + ((round * 4 + index) % 5000) * 500 + scan,
      list: noisyLists.often,
      datetime: "2026-11-01T10:00:00Z",
      type: "entry",
      auto_checked_in: false,
    })),
  });
}

/** Between two shots of a loop. Even a flood has to be made, and a shop imports some times a second. */
const pausesMs: Readonly<Record<Noise, number>> = {
  scans: 5,
  reads: 5,
  connections: 5,
  bodies: 20,
  values: 20,
  records: 100,
  viewers: 5,
};

/** Opens a connection, says something, and waits for its end, at most a while. */
function talk({ baseUrls }: NoiseTarget, words: string, { reads = true } = {}): Promise<string> {
  const [first = ""] = baseUrls;
  const { hostname, port } = new URL(first);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const timer = setTimeout(() => socket.destroy(), 4000);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve("closed");
    });
    socket.on("connect", () => socket.write(words));
    if (reads) socket.resume();
    else socket.pause();
  });
}

/** Makes noise until the channel to its parent closes; then tells how often it got which result. */
async function makeNoise(noise: Noise, target: NoiseTarget): Promise<void> {
  const results: Record<string, number> = {};
  let isOver = false;
  process.once("message", () => {
    isOver = true;
  });
  const { volume } = target;
  const loops = shotsOf(noise, target).flatMap(([most, shot]) => {
    const parallel = Math.ceil(most * volume);
    return Array.from({ length: parallel }, async (_, loop) => {
      for (let round = loop; !isOver; round += parallel) {
        const result = await shot(round).catch(() => "failed");
        results[result] = (results[result] ?? 0) + 1;
        await sleep(result === "failed" ? 50 : pausesMs[noise] / volume);
      }
    });
  });
  process.send?.("begun");
  await Promise.all(loops);
  process.send?.(results, () => process.exit());
}

const [noise, target] = process.argv.slice(2);
if (process.send !== undefined && target !== undefined && import.meta.main)
  await makeNoise(noise as Noise, JSON.parse(target) as NoiseTarget);
