import type { Print } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { any, boolean, choice, id, instant, mapOf, text } from "@tessera/schema/build";
import { formatInstant } from "@tessera/values";
import { LRUCache } from "lru-cache";
import { readJson } from "../../body/read-json.ts";
import type { Clients } from "../../clients.ts";
import { record } from "../../http/answers.ts";
import type { Shown } from "../../http/without-fields.ts";
import { type AskFor, type Asking, askBeside } from "./ask-beside.ts";

const printTypes = ["badge", "ticket", "certificate", "other"] as const;

/** What a device says of its printer: a few words. */
export const mostInfoBytes = 4096;

export const printFields = {
  source: text({ blank: false, maxLength: 255, description: "What printed it, for instance the name of an app." }),
  type: choice(printTypes),
};

export const printShown = record("Print", {
  id: id(),
  successful: boolean(),
  datetime: instant(),
  ...printFields,
  info: mapOf(any(), { description: "What the sender said of it." }),
  device_id: id({ nullable: true, description: "Number of the device at the organizer." }),
});

export function presentPrint(print: Print | undefined) {
  if (print?.at === undefined) throw new Error("boxoffice answered without the print it stored");
  return {
    id: print.id,
    successful: print.successful,
    datetime: formatInstant(print.at),
    source: print.source,
    type: print.type,
    device_id: print.deviceId ?? null,
    info: readJson(print.info) as Shown,
  };
}

/** What was printed, by ticket. A missing ticket has nothing. */
export type Prints = ReadonlyMap<number, readonly Print[]>;

export interface PrintReader {
  /** Reads what was printed for tickets. */
  readonly read: AskFor<Prints>;
  /** Says that something was printed for a ticket of an event. */
  note(place: Pick<Asking, "organizer" | "event">): void;
}

/** A visitor waits. */
const longestMs = 300;

const limits = { mostAtOnce: 64, mostOfOne: 32 };

/** For so long tickets of an event are not asked for, after it had no prints: elsewhere one may be stored. */
const usualWithoutMs = 10_000;

/**
 * Reads what was printed for tickets. Few events have prints: so that scans of others do not wait, they are not asked for
 * where there were none a moment ago.
 */
export function printReader({
  orders,
  withoutMs = usualWithoutMs,
}: {
  readonly orders: Pick<Clients["orders"], "findPrints">;
  readonly withoutMs?: number;
}): PrintReader {
  const without = new LRUCache<string, true>({ max: 10_000, ttl: withoutMs });
  const nothing: Prints = new Map();
  const keyOf = ({ organizer, event }: Pick<Asking, "organizer" | "event">) => `${organizer}/${event}`;
  const ask = askBeside(
    async (request, positions) => {
      const found = await orders.findPrints(request.inEvent({ positions: [...positions] }), { timeoutMs: longestMs });
      if (!found.hasAny) without.set(keyOf(request), true);
      return new Map(found.positions.map(({ position, prints }) => [position, prints]));
    },
    { ...limits, nothing },
  );
  return {
    read: async (request, positions) => (without.has(keyOf(request)) ? nothing : ask(request, positions)),
    note: (place) => void without.delete(keyOf(place)),
  };
}
