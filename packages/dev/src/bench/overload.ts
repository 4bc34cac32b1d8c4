import { columns } from "@tessera/cli/columns";
import { type Compared, compareScanned, isTrue } from "./compare-scanned.ts";
import { gateRecords } from "./gate-records.ts";
import { groundwork, onEmptyPlatform } from "./on-empty-platform.ts";
import { fillLargeEvent, settleLargeEvent } from "./reads-material.ts";
import { type LoadResult, startLoad } from "./start-load.ts";

/** Scans a second that check-in may decide, and how many times as many come. */
const capacity = 1000;
const times = 5;

/** Of the tickets of the event three of ten were scanned before. */
const ticketsOfScan = 1.7;
const spareTickets = 20_000;

const warmSeconds = 5;
const recoverySeconds = 5;

/** So many gates send at the same time: a scan that is refused does not wait for a connection. */
const connections = 512;

/** What is promised, in milliseconds. */
const promisedMs = { accepted: 250, refused: 50, recovered: 50 } as const;

/** Sends five times as many scans as check-in may decide, then half as many, and prints what gates see. */
export async function benchOverload({ seconds }: { readonly seconds: number }): Promise<void> {
  await onEmptyPlatform(
    async ({ baseUrl, progress, open, send }) => {
      const checkin = open("checkin");
      const tickets = Math.ceil(capacity * times * seconds * ticketsOfScan) + spareTickets;
      await send([...groundwork, ...gateRecords()]);
      await fillLargeEvent(checkin, {
        tickets,
        onFilled: (filled) => progress.update(`filling… ${filled} of ${tickets}`),
      });
      await settleLargeEvent(checkin);
      const load = await startLoad(baseUrl, { connections });
      try {
        progress.update("overloading…");
        const warm = await load.run({ perSecond: capacity / 4, seconds: warmSeconds, firstTicket: 2 });
        const during = await load.run({ perSecond: capacity * times, seconds, firstTicket: warm.nextTicket });
        const calm = { perSecond: capacity / 2, seconds: recoverySeconds, firstTicket: during.nextTicket };
        const after = await load.run(calm);
        const admitted = new Set([warm, during, after].flatMap(({ tickets: scanned }) => scanned));
        const compared = await compareScanned(checkin, admitted);
        progress.done();
        judge({ during, after, compared });
      } finally {
        load.stop();
      }
    },
    { environment: { REDEEM_PER_SECOND: String(capacity) } },
  );
}

interface Figures {
  readonly during: LoadResult;
  readonly after: LoadResult;
  /** Of all scans, before and after the overload, too. */
  readonly compared: Compared;
}

function judge({ during, after, compared }: Figures): void {
  const { others, sent } = during;
  const rows = [
    ["", "measured", "promised"],
    ["scans sent, admitted, refused for now", `${sent}, ${during.admitted}, ${others["429"] ?? 0}`, ""],
    ["other answers", JSON.stringify({ ...others, 429: undefined }), "{}"],
    ["p99 of those that are admitted", ms(during.p99Admitted), ms(promisedMs.accepted)],
    ["p99 of those that are refused", ms(during.p99Refused), ms(promisedMs.refused)],
    ["p99 right after it, at half of the capacity", ms(after.p99), ms(promisedMs.recovered)],
    [
      "answered 201 in all; lost or doubled, stored without a 201",
      `${compared.admitted}; ${compared.lostOrDoubled}, ${compared.unanswered}`,
      "0, 0",
    ],
  ];
  process.stdout.write(`${columns(rows)}\n`);
  const isKept =
    during.p99Admitted <= promisedMs.accepted &&
    during.p99Refused <= promisedMs.refused &&
    after.p99 <= promisedMs.recovered &&
    isTrue(compared) &&
    Object.keys(others).every((answer) => answer === "429");
  if (!isKept) process.exitCode = 1;
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
