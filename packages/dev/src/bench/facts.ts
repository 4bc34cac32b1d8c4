import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Progress } from "@tessera/cli/command/progress";
import { migrateAll } from "@tessera/cli/migrate";
import { kafkaBus } from "@tessera/engines/kafka/kafka";
import type { Bus } from "@tessera/kit/bus/bus";
import { header } from "@tessera/kit/bus/headers";
import { countAcceptedFacts } from "@tessera/kit/bus/operators";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { startService } from "../serving-process.ts";
import { positionFactOf } from "./facts-material.ts";
import { log, topicPrefix, withEngines } from "./platform.ts";
import { copySameRows } from "./reference.ts";
import { figure, report, short } from "./report.ts";
import { usageOf, usageOfPostgres } from "./usage.ts";

/**
 * Publishes facts of tickets over Kafka, and measures how fast a checkin that starts then applies them, beside a COPY of the
 * rows that it has written.
 */
export function benchFacts(facts: number): Promise<void> {
  return withEngines(
    async (engines) => {
      const { postgres, settings, progress, open, atEnd } = engines;
      await migrateAll({ url: postgres.url, names: ["boxoffice", "checkin"] });
      const brokers = (settings["KAFKA_BROKERS"] ?? "").split(",");
      const bus = kafkaBus({ brokers, clientId: "tessera-bench", topicPrefix, log });
      atEnd(() => bus.close());
      const checkin = open("checkin");
      const bytes = await fillBacklog(bus, { facts, progress });
      const before = await usageOfPostgres(postgres.dataDirectory);
      // Without scans boxoffice is never called.
      const serving = await startService("checkin", { ...settings, BOXOFFICE_ADDRESS: "127.0.0.1:1" });
      atEnd(() => serving.stop());
      const perSecond = await watchDrain(checkin, { facts, progress });
      const [ours, after] = [await usageOf(serving.pid), await usageOfPostgres(postgres.dataDirectory)];
      progress.update("copying the same rows…");
      const copy = await copySameRows(engines, ["checkin.position"]);
      progress.done();
      const each = (seconds: number) => `${((seconds * 1e6) / facts).toFixed(0)} µs`;
      report([
        figure(`${facts} facts of ${(bytes / facts).toFixed(0)} bytes, applied`, `${perSecond.toFixed(0)} a second`),
        figure("  COPY of the same rows", `${(copy.rows / copy.seconds).toFixed(0)} a second`),
        figure("  ratio to COPY", short(perSecond / (copy.rows / copy.seconds))),
        figure("  processor time of each, ours", each(ours.cpuSeconds)),
        figure("  of PostgreSQL", each(after.cpuSeconds - before.cpuSeconds)),
        figure("  peak memory of the process", `${ours.peakMegabytes.toFixed(0)} MiB`),
      ]);
    },
    { kafka: true },
  );
}

/** As the relay does. */
const publishedAtOnce = 500;

/** Publishes facts as a relay does; returns how many bytes they have. */
async function fillBacklog(bus: Bus, { facts, progress }: { facts: number; progress: Progress }): Promise<number> {
  const { name, key, encode } = topics.positionChanged;
  let bytes = 0;
  for (let first = 1; first <= facts; first += publishedAtOnce) {
    const count = Math.min(publishedAtOnce, facts - first + 1);
    const messages = Array.from({ length: count }, (_, index) => {
      const fact = positionFactOf(first + index);
      const headers = { [header.factId]: randomUUID(), [header.at]: String(Date.now() * 1000) };
      return { key: key(fact), value: encode(fact), headers };
    });
    bytes += messages.reduce((sum, { value }) => sum + value.length, 0);
    await bus.publish(name, messages);
    progress.update(`filling the backlog… ${first + count - 1} of ${facts}`);
  }
  return bytes;
}

const lookEveryMs = 200;
const longestSilenceMs = 60_000;

/** Waits until checkin has applied all; returns facts a second from the first visible effect to the last. */
async function watchDrain(checkin: Db, { facts, progress }: { facts: number; progress: Progress }): Promise<number> {
  let first: { readonly at: number; readonly done: number } | undefined;
  let last = { at: performance.now(), done: 0 };
  for (; last.done < facts; await sleep(lookEveryMs)) {
    // Sums over a few rows, which are written with the effects.
    const { done } = await checkin.one<{ done: number }>(sql`
      select coalesce(sum(count_delta.positions), 0)::bigint as done from count_delta where count_delta.list = 0`);
    const at = performance.now();
    if (done > last.done) last = { at, done };
    if (done > 0) first ??= last;
    if (at - last.at > longestSilenceMs)
      throw new Error(`the drain made no progress after ${last.done} of ${facts} facts`);
    progress.update(`draining… ${done} of ${facts}`);
  }
  const recorded = await countAcceptedFacts(checkin);
  const { held } = await checkin.one<{ held: number }>(sql`select count(*) as held from position`);
  if (held !== facts || recorded !== facts)
    throw new Error(`of ${facts} facts, ${held} had their effect and ${recorded} are in the inbox`);
  const from = first ?? last;
  return (facts - from.done) / ((last.at - from.at) / 1000);
}
