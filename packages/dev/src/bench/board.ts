import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "@tessera/cli/simulate/quantile";
import { eventPath, sendRecords } from "./client.ts";
import { fillLargeEvent, wasScanned } from "./large-event.ts";
import { type LoadProcess, withLoad } from "./load.ts";
import { inOneProcess, type Platform } from "./platform.ts";
import { apiKey, gate } from "./records.ts";
import { atMost, figure, type Row, report, short } from "./report.ts";
import { processorSeconds } from "./usage.ts";

/** What is promised. */
const promised = { shownMs: 1500, percentOfACore: 5 } as const;

const crowd = { viewers: 50, scansPerSecond: 1000, seconds: 20 } as const;

/** Scans whose way to the board is measured: refused ones, which a state shows with the time when they were made. */
const markedEveryMs = 200;

const headers = { authorization: `Token ${apiKey}` };

/** Watches an event at whose gates many scan. */
export async function benchBoard(tickets: number): Promise<void> {
  report(
    await inOneProcess(async (platform) => {
      await sendRecords(platform.baseUrl, gate);
      await fillLargeEvent(platform.open("checkin"), { tickets, progress: platform.progress });
      return withLoad(platform, (load) => measure(platform, load));
    }),
  );
}

async function measure(platform: Platform, load: LoadProcess): Promise<Row[]> {
  const { progress } = platform;
  const { scansPerSecond: perSecond, seconds, viewers } = crowd;
  const unscanned = firstUnscanned();
  progress.update("scanning…");
  const warm = await load.run({ perSecond, seconds: 5, firstTicket: unscanned });
  const alone = await useOf(platform, () => load.run({ perSecond, seconds, firstTicket: warm.nextTicket }));
  progress.update(`scanning, watched by ${viewers}…`);
  const board = openBoard(platform, viewers);
  await sleep(2000);
  const marks = sendMarks(platform);
  const watched = await useOf(platform, () => load.run({ perSecond, seconds, firstTicket: alone.result.nextTicket }));
  const sent = await marks.end();
  await sleep(3000);
  const states = await board.close();
  const shown = sent.map(({ madeAt, answeredAt }) => (board.seen.get(madeAt) ?? Infinity) - answeredAt);
  return [
    figure("scans a second, unwatched", short(alone.result.sent / seconds)),
    figure("  p99", `${short(alone.result.p99)} ms`),
    figure(`scans a second, watched by ${viewers}`, short(watched.result.sent / seconds)),
    figure("  p99", `${short(watched.result.p99)} ms`),
    atMost(
      `from the answer to a scan to a board, p99 of ${sent.length}`,
      quantile(shown, 0.99),
      promised.shownMs,
      "ms",
    ),
    figure("  p50", `${short(quantile(shown, 0.5))} ms`),
    atMost(
      `${viewers} viewers, of a processor, with PostgreSQL`,
      (100 * (watched.seconds - alone.seconds)) / seconds,
      promised.percentOfACore,
      "%",
    ),
    figure("  states that they got", String(states)),
  ];
}

function firstUnscanned(): number {
  let ticket = 2;
  while (wasScanned(ticket)) ticket += 1;
  return ticket;
}

async function useOf<T>(platform: Platform, work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const before = await processorSeconds(platform);
  const result = await work();
  return { result, seconds: (await processorSeconds(platform)) - before };
}

/** Sends scans of codes that no ticket has, each made at a time of its own. */
function sendMarks({ baseUrl }: Platform) {
  const sent: { readonly madeAt: number; readonly answeredAt: number }[] = [];
  const over = { is: false };
  const sending = (async () => {
    for (let mark = 0; !over.is; mark += 1) {
      const madeAt = Date.now();
      const answer = await fetch(`${baseUrl}${eventPath}/checkinlists/1/positions/mark-${mark}/redeem/`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ datetime: new Date(madeAt).toISOString() }),
      });
      await answer.arrayBuffer();
      if (answer.status !== 429) sent.push({ madeAt, answeredAt: performance.now() });
      await sleep(markedEveryMs);
    }
  })();
  return {
    async end() {
      over.is = true;
      await sending;
      return sent;
    },
  };
}

/** Watches the event as so many screens do; remembers when the first of them saw each refusal. */
function openBoard({ baseUrl }: Platform, viewers: number) {
  const seen = new Map<number, number>();
  const over = new AbortController();
  let states = 0;
  const watch = async () => {
    while (!over.signal.aborted) {
      const answer = await fetch(`${baseUrl}${eventPath}/live/`, {
        headers: { ...headers, accept: "text/event-stream" },
        signal: over.signal,
      });
      if (!answer.ok || answer.body === null) throw new Error(`the board answered ${answer.status}`);
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        const at = performance.now();
        if (chunk.includes("data: ")) states += 1;
        for (const [, datetime = ""] of chunk.matchAll(/"datetime":"([^"]+)"/g)) {
          const madeAt = Date.parse(datetime);
          if (!seen.has(madeAt)) seen.set(madeAt, at);
        }
      }
    }
  };
  const watching = Array.from({ length: viewers }, () =>
    watch().catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    }),
  );
  return {
    seen,
    async close() {
      over.abort();
      await Promise.all(watching);
      return states;
    },
  };
}
