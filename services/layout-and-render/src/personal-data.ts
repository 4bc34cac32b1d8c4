import { findLastRequest } from "@tessera/events/personal-data/erasures";
import { type Erasing, holdPersonalData } from "@tessera/events/personal-data/holder";
import type { Files } from "@tessera/kit/files/files";
import { removeUnnamedBefore } from "@tessera/kit/files/remove-unnamed";
import { countResults, expireWork, findAlive } from "@tessera/kit/jobs/work";
import { waitForEarlierTransactions } from "@tessera/kit/pg/earlier-transactions";
import type { Client } from "@tessera/kit/rpc";
import { pause } from "@tessera/kit/waiting/pause";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import type { PersonalData } from "@tessera/protos/services";
import { catalogue, topics } from "@tessera/protos/topics";
import { rendersOf, rendersPrefix, renderWorks, workAt, worksOf } from "./printing/render-work.ts";
import { readTime, versionOf } from "./store/version-of-layouts.ts";

/** What tickets print of people, and the files themselves. */
const printedKinds = [
  "cachedtickets",
  "attendee_info",
  "order_emails",
  "invoice_addresses",
  "phone_numbers",
  "question_answers",
] as const;

const pauseMs = 200;

interface EraseTools {
  readonly files: Files;
  readonly boxofficeData: Client<PersonalData>;
}

/** The personal data that layout-and-render holds: rendered files. Layouts have none, and no process caches tickets. */
export const personalData = holdPersonalData<EraseTools>({
  requests: topics.shredRequested,
  topics: catalogue,
  holdings: printedKinds.map((kind) => ({
    kind,
    name: rendersPrefix,
    async left(db, place) {
      const before = await findLastRequest(db, place, kind);
      const range = { prefix: worksOf(place), before: before ?? 0 };
      const counts = await Promise.all(renderWorks.map((work) => countResults(db, work, range)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  })),
  version: versionOf,
  async erase(job, tools) {
    const kinds = printedKinds.filter((kind) => job.kinds.has(kind));
    if (kinds.length === 0) return;
    if (kinds.some((kind) => kind !== "cachedtickets")) await untilErasedInBoxoffice(job, tools);
    await eraseRenders(job, kinds, tools);
  },
});

/** Data read from boxoffice before its erasure may still be printed: those files must be deleted, too. */
async function untilErasedInBoxoffice(job: Erasing, { boxofficeData }: EraseTools): Promise<void> {
  const { organizer, event, case: id, signal, slice } = job;
  for (;;) {
    signal.throwIfAborted();
    const { state } = await boxofficeData.findErasure({ organizer, event, case: id, withLeft: false }, { signal });
    if (state === ErasureState.DONE) return;
    // Ends here if the event was deleted, which ends the case in boxoffice, too.
    await slice(async () => {});
    await pause(pauseMs, signal);
  }
}

/**
 * Expires all jobs of an event that were started before now, and removes their files. Waits for a job that is
 * rendering, whose file is removed with the others.
 */
async function eraseRenders(job: Erasing, kinds: readonly string[], { files }: EraseTools): Promise<void> {
  const { organizer, event, signal, slice } = job;
  const range = { prefix: worksOf({ organizer, event }), before: await slice(readTime) };
  // Waits for jobs whose enqueueing transaction is still open.
  await waitForEarlierTransactions(slice, signal);
  for (let running = 1; running > 0; ) {
    running = await slice(async (tx, count) => {
      const expired = [];
      for (const work of renderWorks) expired.push(await expireWork(tx, work, range));
      for (const kind of kinds) for (const { results } of expired) count(kind, rendersPrefix, results);
      return expired.reduce((sum, each) => sum + each.running, 0);
    });
    if (running > 0) await pause(pauseMs, signal);
    signal.throwIfAborted();
  }
  await removeUnnamedBefore(files, {
    prefix: rendersOf({ organizer, event }),
    isOurs: (key) => workAt(key) !== undefined,
    findNamed: async (keys) => {
      const ids = [...new Set(keys.map((key) => workAt(key) ?? ""))];
      const alive = await slice((tx) => Promise.all(renderWorks.map((work) => findAlive(tx, work, ids))));
      return new Set(keys.filter((key) => alive.some((found) => found.has(workAt(key) ?? ""))));
    },
    before: Number.POSITIVE_INFINITY,
    signal,
  });
  signal.throwIfAborted();
}
