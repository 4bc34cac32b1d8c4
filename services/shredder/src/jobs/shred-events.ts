import { changedSince } from "@tessera/events/personal-data/holder";
import { type CaughtUp, settle } from "@tessera/kit/bus/settle";
import type { Files } from "@tessera/kit/files/files";
import { removeUnnamedBefore } from "@tessera/kit/files/remove-unnamed";
import { WorkFailed, workOn } from "@tessera/kit/jobs/work-on";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import { pause } from "@tessera/kit/waiting/pause";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import type { Facts } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { type Holder, type HolderClients, holdersOf } from "../cases/holders.ts";
import { exportAt, exportsOf, patienceMs, shredding } from "../cases/work.ts";
import type { Named } from "../domain/named.ts";
import { type CaseProgress, judgeProgress, type ServiceProgress } from "../domain/progress.ts";
import { retentionCredential } from "../domain/retention.ts";
import { fault } from "../faults.ts";
import type { ShredEvents } from "../report-events.ts";
import { isAnnounced } from "../store/announcements.ts";
import { noteErased, noteFailed, noteRepeated, noteRequested, readCase, type ShredCase } from "../store/cases.ts";
import { findExport, findFiles, findNameable, forgetFiles } from "../store/exports.ts";

export interface ShredTools extends HolderClients {
  readonly db: Db;
  readonly files: Files;
  readonly boxofficeFacts: Pick<Client<Facts>, "markFacts">;
  readonly checkinFacts: { readonly caughtUp: CaughtUp };
  readonly events: ShredEvents;
}

/** A call reads all rows of an event. */
const callMs = 30_000;
const countMs = 120_000;

/** To find how far an erasure is takes milliseconds. */
const findMs = 5000;

/** How long a try waits for services that are away, and for those that erase; the next one goes on after a pause. */
const awayMs = 2500;
const erasingMs = 60_000;
const pauseMs = 200;

/** What is left is asked for again at this pace. */
const repeatMs = 60_000;

/** Copies mostly lose within a second what their owner has erased. */
const settleMs = 20_000;

/**
 * Shreds events. Until services are asked, any change since the export ends the case with nothing erased; from then on
 * there is no way back, and every step may be repeated.
 */
export const shredEvents = workOn(shredding, async ({ payload, signal, step }, tools: ShredTools) => {
  const shred = await readCase(tools.db, payload);
  if (shred.eventGoneAt !== null) {
    // Services that have not heard of it yet would keep the case for the next event of that name.
    if (shred.requestedAt === null) await reopenEvent(shred, tools, signal);
    throw new WorkFailed("The event was deleted.");
  }
  if (shred.failedAt !== null) {
    await reopenEvent(shred, tools, signal);
    throw new WorkFailed(shred.problem ?? "The erasure was refused.");
  }
  if (shred.requestedAt === null) {
    const problem = await findProblem(shred, tools, signal);
    if (problem !== undefined) {
      await step((tx) => noteFailed(tx, payload, problem));
      await reopenEvent(shred, tools, signal);
      throw new WorkFailed(problem);
    }
    await step(async (tx) => {
      if (!(await noteRequested(tx, payload))) return;
      await tx.publish(topics.shredRequested, [{ ...toRequest(shred), again: false, fromLedger: false }]);
    });
  }
  const progress = await waitForServices(shred, tools, signal);
  if (progress.state === "erasing" && progress.isStuck) {
    await step(async (tx) => {
      if (!(await noteRepeated(tx, payload, { afterMs: repeatMs }))) return;
      await tx.publish(topics.shredRequested, [{ ...toRequest(shred), again: true, fromLedger: false }]);
    });
  }
  if (progress.state === "erasing")
    throw fault("holders_missing", `a case is not erased yet: ${progress.missing.join("; ")}`);
  const files = await findFiles(tools.db, shred);
  await tools.files.remove(files);
  await removeLostExports(shred, tools, signal);
  return async (tx) => {
    await forgetFiles(tx, shred, files);
    await noteErased(tx, payload, progress.parts);
    const counts = progress.parts.map(({ service, parts }) => [
      service,
      parts.reduce((sum, { count }) => sum + count, 0),
    ]);
    tools.events.shredded(payload, payload.id, Object.fromEntries(counts) as Record<string, number>);
  };
});

/** Removes files of exports that no row will name any more: those of tries that were killed between a file and its row. */
async function removeLostExports(
  { organizer, event }: ShredCase,
  tools: ShredTools,
  signal: AbortSignal,
): Promise<void> {
  const place = { organizer, event };
  await removeUnnamedBefore(tools.files, {
    prefix: exportsOf(place),
    isOurs: (key) => exportAt(key) !== undefined,
    findNamed: (keys) =>
      findNameable(
        tools.db,
        place,
        keys.map((key) => ({ key, export: exportAt(key) ?? "" })),
      ),
    before: Number.POSITIVE_INFINITY,
    signal,
  });
  signal.throwIfAborted();
}

function toRequest({ organizer, event, id, kinds }: ShredCase) {
  return { organizer, event, case: id, kinds: [...kinds] };
}

/**
 * Finds what keeps an event from being erased. Without that it closes the event in all services, each of which compares again.
 * Boxoffice is the last: an event that it has closed for this case before is erased, whatever has happened since.
 */
async function findProblem(shred: ShredCase, tools: ShredTools, signal: AbortSignal): Promise<string | undefined> {
  const { organizer, event } = shred;
  const isKnownTo = async (client: Holder["client"]) => {
    const asked = { organizer, event, case: shred.id, withLeft: false };
    const { state } = await client.findErasure(asked, { signal, timeoutMs: callMs });
    return state !== ErasureState.UNKNOWN;
  };
  if (await isKnownTo(tools.boxofficeData)) return undefined;
  if (shred.ageMs > patienceMs) return "A part of the platform is away, so nothing was erased. Try again later.";
  const exported = await findExport(tools.db, { organizer, event, id: shred.export });
  const { versions, fileKey } = exported ?? { versions: null, fileKey: null };
  if (versions === null || fileKey === null) return "The export is over. Export the event again.";
  const holders = holdersOf(tools).toReversed();
  // First without closing: what has changed is mostly found before any service takes less than usual. A service that a try
  // before this one has closed compares without its own case.
  for (const { service, client } of holders) {
    if (await isKnownTo(client)) continue;
    const { version } = await client.describeEvent({ organizer, event }, { signal, timeoutMs: callMs });
    if (version !== versions[service]) return changedSince;
  }
  if (await isKept(shred, tools)) return keptOtherwise;
  for (const { service, client } of holders) {
    if (service === "boxoffice" && (await isKept(shred, tools))) return keptOtherwise;
    const request = { ...toRequest(shred), version: versions[service] ?? "" };
    const { problem } = await client.closeEvent(request, { signal, timeoutMs: callMs });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const keptOtherwise = "The organizer keeps the data of its events otherwise now.";

/** Whether retention has begun a case, and would not do so any more. */
async function isKept(shred: ShredCase, { db }: ShredTools): Promise<boolean> {
  return shred.credential === retentionCredential && !(await isAnnounced(db, shred));
}

/** Takes back what was begun for a case that was not requested, in every service that answers; throws if one does not. */
async function reopenEvent({ organizer, event, id }: ShredCase, tools: ShredTools, signal: AbortSignal): Promise<void> {
  const answers = await Promise.allSettled(
    holdersOf(tools).map(({ client }) =>
      client.reopenEvent({ organizer, event, case: id }, { signal, timeoutMs: callMs }),
    ),
  );
  for (const answer of answers) if (answer.status === "rejected") throw answer.reason;
}

/** Waits until all services have erased their parts, and copies have lost what their owner erased. */
async function waitForServices(of: Named, tools: ShredTools, signal: AbortSignal): Promise<CaseProgress> {
  const ask = (question: { readonly withLeft: boolean }) =>
    Promise.all(holdersOf(tools).map((holder) => askHolder(holder, { ...of, ...question }, signal)));
  for (const started = Date.now(); ; await pause(pauseMs, signal)) {
    const services = await ask({ withLeft: false });
    signal.throwIfAborted();
    const progress = judgeProgress(services);
    if (progress.state === "erased") break;
    const isAway = services.some(({ state }) => state === "silent" || state === "unasked");
    if (Date.now() - started > (isAway ? awayMs : erasingMs)) return progress;
  }
  const { boxofficeFacts: owner, checkinFacts } = tools;
  const hasSettled = await settle({ owner, readers: [checkinFacts.caughtUp], until: Date.now() + settleMs, signal });
  if (!hasSettled)
    return { state: "erasing", isStuck: false, missing: ["check-in has not taken over what boxoffice erased"] };
  return judgeProgress(await ask({ withLeft: true }));
}

async function askHolder(
  { service, client }: Holder,
  { organizer, event, id, withLeft }: Named & { readonly withLeft: boolean },
  signal: AbortSignal,
): Promise<ServiceProgress> {
  const timeoutMs = withLeft ? countMs : findMs;
  try {
    const found = await client.findErasure({ organizer, event, case: id, withLeft }, { signal, timeoutMs });
    return { service, state: states[found.state] ?? "unasked", parts: found.parts, left: found.left, kept: found.kept };
  } catch {
    return { service, state: "silent", parts: [], left: [], kept: [] };
  }
}

const states: Readonly<Partial<Record<ErasureState, ServiceProgress["state"]>>> = {
  [ErasureState.RUNNING]: "erasing",
  [ErasureState.DONE]: "done",
};
