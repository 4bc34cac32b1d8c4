import { setTimeout as sleep } from "node:timers/promises";
import { type Consumer, consume, type Fact } from "@tessera/kit/bus/consume";
import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { recordFeed } from "@tessera/protos/topics";
import { type ImportTargets, importMessages } from "../import/import-stream.ts";
import type { LineError } from "../import/tally.ts";

/**
 * A record may refer to one that comes by another partition, an event to its organizer: whoever is rejected gets these
 * further chances, a few seconds in all.
 */
const pausesMs = [200, 800, 2000, 4000];

/**
 * Takes the continuous feed as an import takes its lines. What stays rejected is parked with the reason, and the rest
 * goes on. Records are idempotent, so one whose effect was stored before its batch was committed may come again.
 */
export function recordFed(db: Db, targets: ImportTargets): Consumer {
  return consume(recordFeed, db, async (_tx, facts) => {
    const refusals = new Map<number, LineError>();
    let waiting = facts.map((_fact, place) => place);
    for (const pauseMs of [0, ...pausesMs]) {
      if (waiting.length === 0) break;
      await sleep(pauseMs);
      const sent = waiting;
      const errors = await importAll(
        sent.map((place) => facts[place]?.value ?? new Uint8Array()),
        targets,
      );
      for (const [index, place] of sent.entries()) {
        const error = errors.get(index);
        if (error === undefined) refusals.delete(place);
        else refusals.set(place, error);
      }
      // What a later record about the same has replaced must not come behind it.
      waiting = [...refusals.keys()].filter((place) => !isReplaced(facts, place, refusals)).sort((a, b) => a - b);
    }
    return [...refusals].flatMap(([place, error]) => {
      const fact = facts[place];
      return fact === undefined ? [] : [{ fact, cause: describe(error) }];
    });
  });
}

function isReplaced(
  facts: readonly Fact<Uint8Array>[],
  place: number,
  refusals: ReadonlyMap<number, LineError>,
): boolean {
  const subject = subjectOf(facts[place]);
  return facts.some((fact, later) => later > place && !refusals.has(later) && subjectOf(fact) === subject);
}

function subjectOf(fact: Fact<Uint8Array> | undefined): string {
  return `${fact?.key} ${recordFeed.fromOutside?.subject(fact?.value ?? new Uint8Array())}`;
}

/** An owner that is away comes back: the feed waits for it, whatever the reason it was not reached. */
async function importAll(messages: readonly Uint8Array[], targets: ImportTargets): Promise<Map<number, LineError>> {
  try {
    return await importMessages(messages, targets);
  } catch (error) {
    throw new Fault("unavailable", "owner_unavailable", "the owner of the records does not take them", {
      cause: error,
    });
  }
}

function describe(error: LineError): string {
  const fields = Object.entries(error.errors).map(([field, messages]) => `${field}: ${messages.join(" ")}`);
  return `${error.kind ?? "no record"}: ${fields.join("; ")}`.slice(0, 2000);
}
