import { setTimeout as sleep } from "node:timers/promises";
import { ask, sendRecords, timed, untilDone } from "./client.ts";
import { fillLargeEvent } from "./large-event.ts";
import { type LoadResult, withLoad } from "./load.ts";
import { inOneProcess, onKafka, type Platform } from "./platform.ts";
import { gate, orderOf, recordOf } from "./records.ts";
import { copySameRows } from "./reference.ts";
import { atMost, figure, type Row, report, short } from "./report.ts";
import { usageOf } from "./usage.ts";

const event = "/api/v1/organizers/bench/events/over";
const kinds = ["attendee_info", "order_emails", "phone_numbers", "invoice_addresses", "question_answers"];

/** What is promised of an event with a hundred thousand orders, and of the gates of other events meanwhile. */
const limit = { orders: 100_000, seconds: 30, slower: 1.5, megabytes: 256 } as const;

/** At the gates of another event. */
const scans = { tickets: 20_000, perSecond: 20, quietMs: 15_000, seconds: 600 } as const;

/** What an import leaves to do is over by then. */
const restMs = 5000;

/** The tables whose rows an erasure writes once more; the gates' own tickets are in checkin alone. */
const erased = ['boxoffice."order"', "boxoffice.position"];

/**
 * Exports and erases the personal data of an event, beside scans at the gates of another one: with everything in one process,
 * and with a process for each service on Kafka.
 */
export async function benchShred(orders: number): Promise<void> {
  const rows = await inOneProcess((platform) => exportAndErase("in one process", platform, orders));
  const name = "with a process for each service, on Kafka";
  report([...rows, ...(await onKafka((platform) => exportAndErase(name, platform, orders)))]);
}

async function exportAndErase(name: string, platform: Platform, orders: number): Promise<Row[]> {
  const { baseUrl, progress, processes, open } = platform;
  progress.update(`importing ${orders} orders…`);
  await sendRecords(baseUrl, [...gate, ...ground()]);
  await sendRecords(baseUrl, ordersOf(orders));
  await fillLargeEvent(open("checkin"), { tickets: scans.tickets, progress });
  await sleep(restMs);
  return withLoad({ baseUrl }, async (load) => {
    let next = 2;
    const scanUntil = async (until: Promise<unknown>): Promise<LoadResult> => {
      const result = await load.run({ ...scans, firstTicket: next }, until);
      next = result.nextTicket;
      if (result.tickets.length < result.sent)
        throw new Error(`scans of another event were answered ${JSON.stringify(result.others)}`);
      return result;
    };
    progress.update("scanning alone…");
    const quiet = await scanUntil(sleep(scans.quietMs));
    progress.update("exporting…");
    const asked = await ask<{ download: string; shred: string }>(`${baseUrl}${event}/shredders/export/`, {
      shredders: kinds,
    });
    const at = (address: string) => `${baseUrl}${new URL(address).pathname}`;
    const exporting = timed(() => untilDone(at(asked.download)));
    const besideExport = await scanUntil(exporting);
    progress.update("erasing…");
    const shred = await ask<{ status: string }>(at(asked.shred), {});
    const erasing = timed(() => untilDone(at(shred.status)));
    const besideErasure = await scanUntil(erasing);
    const memory = await Promise.all(processes().map(async ({ name, pid }) => ({ name, ...(await usageOf(pid)) })));
    const largest = memory.reduce((one, other) => (one.peakMegabytes > other.peakMegabytes ? one : other));
    progress.update("copying the same rows…");
    const copy = await copySameRows(platform, erased);
    const [exportedIn, erasedIn] = [(await exporting) / 1000, (await erasing) / 1000];
    const promisedSeconds = (limit.seconds * orders) / limit.orders;
    const promisedMs = quiet.p99 * limit.slower;
    return [
      atMost(`${orders} orders exported ${name}`, exportedIn, promisedSeconds, "s"),
      atMost("  erased everywhere", erasedIn, promisedSeconds, "s"),
      figure(`  COPY of the same ${copy.rows} rows`, `${short(copy.seconds)} s`),
      figure("  ratio of the erasure to COPY", short(erasedIn / copy.seconds)),
      figure("  scans of another event, p99, alone", `${short(quiet.p99)} ms`),
      atMost("  beside the export", besideExport.p99, promisedMs, "ms"),
      atMost("  beside the erasure", besideErasure.p99, promisedMs, "ms"),
      processes().length === 1
        ? figure("  peak memory, with all services", `${largest.peakMegabytes.toFixed(0)} MiB`)
        : atMost(`  peak memory of the largest, ${largest.name}`, largest.peakMegabytes, limit.megabytes, "MiB"),
    ];
  });
}

/** An event that is over, with a question. */
function ground(): string[] {
  const of = (kind: string, data: object) => recordOf(kind, data, { event: "over" });
  return [
    of("event", {
      ...{ slug: "over", name: { en: "Over" }, live: false, currency: "EUR", date_from: "2020-07-01T10:00:00Z" },
    }),
    of("item", { id: 1, name: { en: "Ticket" }, default_price: "99.00", admission: true, active: true }),
    of("question", { id: 1, question: { en: "Diet?" }, type: "S", identifier: "DIET", items: [1] }),
  ];
}

function* ordersOf(orders: number): Generator<string> {
  for (let number = 1; number <= orders; number += 1) {
    const address = { street: `Street ${number}`, zipcode: "12345", city: "Sampletown", country: "DE" };
    const invoice = { name: `Attendee Number ${number}`, ...address };
    const answers = [{ question: 1, answer: `diet of ${number}`, question_identifier: "DIET" }];
    yield orderOf(number, {
      event: "over",
      order: { datetime: "2020-01-01T12:00:00Z", phone: `+49 30 ${number}`, invoice_address: invoice },
      position: { attendee_email: `guest.${number}@example.org`, ...address, answers },
    });
  }
}
