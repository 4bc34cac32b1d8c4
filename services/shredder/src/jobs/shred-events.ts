import { type CaughtUp, settle } from "@tessera/kit/bus/settle";
import type { Files } from "@tessera/kit/files/files";
import { WorkFailed, workOn } from "@tessera/kit/jobs/workers";
import { pause } from "@tessera/kit/pause";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import type { Facts, Shredding } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import type { Named } from "../domain/named.ts";
import { type CaseProgress, judgeProgress, type ServiceProgress } from "../domain/progress.ts";
import type { ShredEvents } from "../events.ts";
import { fault } from "../faults.ts";
import { type Holder, type HolderClients, holdersOf } from "../holders.ts";
import { noteErased, noteFailed, noteRequested, readCase, type ShredCase } from "../store/cases.ts";
import { findExport, forgetFiles } from "../store/exports.ts";
import { shredding } from "../work.ts";

export interface ShredTools extends HolderClients {
  readonly db: Db;
  readonly files: Files;
  readonly shredding: Client<Shredding>;
  readonly boxofficeFacts: Pick<Client<Facts>, "markFacts">;
  readonly checkinFacts: { readonly caughtUp: CaughtUp };
  readonly events: ShredEvents;
}

/** A call reads all rows of an event. */
const callMs = 30_000;
const countMs = 120_000;

/** How long a try waits for services; the next one goes on. */
const waitMs = 2500;
const pauseMs = 200;

/** Copies mostly lose within a second what their owner has erased. */
const settleMs = 20_000;

/**
 * Shreds events. Until services are asked, any change since the export ends the case with nothing erased; from then on
 * there is no way back, and every step may be repeated.
 */
export const shredEvents = workOn(shredding, async ({ payload, signal, step }, tools: ShredTools) => {
  const shred = await readCase(tools.db, payload);
  if (shred.failedAt !== null) throw new WorkFailed("The erasure was refused. Export the event again.");
  if (shred.requestedAt === null) {
    const problem = await findProblem(shred, tools, signal);
    if (problem !== undefined) {
      await step((tx) => noteFailed(tx, payload));
      throw new WorkFailed(problem);
    }
    await step(async (tx) => {
      if (!(await noteRequested(tx, payload))) return;
      await tx.publish(topics.shredRequested, [toRequest(shred)]);
    });
  }
  const progress = await waitForServices(shred, tools, signal);
  if (progress.state === "erasing")
    throw fault("holders_missing", `a case is not erased yet: ${progress.missing.join("; ")}`);
  await tools.files.remove(await step((tx) => forgetFiles(tx, shred)));
  return async (tx) => {
    await noteErased(tx, payload, progress.parts);
    const counts = progress.parts.map(({ service, parts }) => [
      service,
      parts.reduce((sum, { count }) => sum + count, 0),
    ]);
    tools.events.shredded(payload, payload.id, Object.fromEntries(counts) as Record<string, number>);
  };
});

function toRequest({ organizer, event, id, kinds }: ShredCase) {
  return { organizer, event, case: id, kinds: [...kinds] };
}

/**
 * Finds what keeps an event from being erased. Boxoffice is asked last: it closes the event at the same moment. An event that
 * it has closed for this case before is erased, whatever has happened since.
 */
async function findProblem(shred: ShredCase, tools: ShredTools, signal: AbortSignal): Promise<string | undefined> {
  const { organizer, event } = shred;
  const closed = await tools.boxofficeData.findErasure(
    { organizer, event, case: shred.id, withLeft: false },
    { signal, timeoutMs: callMs },
  );
  if (closed.state !== ErasureState.UNKNOWN) return undefined;
  const exported = await findExport(tools.db, { organizer, event, id: shred.export });
  const { versions, fileKey } = exported ?? { versions: null, fileKey: null };
  if (versions === null || fileKey === null) return "The export is over. Export the event again.";
  for (const { service, client } of holdersOf(tools)) {
    if (service === owner) continue;
    const { version } = await client.describeEvent({ organizer, event }, { signal, timeoutMs: callMs });
    if (version !== versions[service]) return "The event has changed since it was exported. Export it again.";
  }
  const { problem } = await tools.shredding.closeEvent(
    { ...toRequest(shred), version: versions[owner] ?? "" },
    { signal, timeoutMs: callMs },
  );
  return problem;
}

/** It owns events and orders. */
const owner = "boxoffice";

/** Waits until all services have erased their parts, and copies have lost what their owner erased. */
async function waitForServices(of: Named, tools: ShredTools, signal: AbortSignal): Promise<CaseProgress> {
  const ask = async (question: { readonly withLeft: boolean }) =>
    judgeProgress(
      await Promise.all(holdersOf(tools).map((holder) => askHolder(holder, { ...of, ...question }, signal))),
    );
  for (const until = Date.now() + waitMs; ; await pause(pauseMs, signal)) {
    const progress = await ask({ withLeft: false });
    signal.throwIfAborted();
    if (progress.state === "erased") break;
    if (Date.now() > until) return progress;
  }
  const { boxofficeFacts: owner, checkinFacts } = tools;
  const hasSettled = await settle({ owner, readers: [checkinFacts.caughtUp], until: Date.now() + settleMs, signal });
  if (!hasSettled) return { state: "erasing", missing: ["check-in has not taken over what boxoffice erased"] };
  return ask({ withLeft: true });
}

async function askHolder(
  { service, client }: Holder,
  { organizer, event, id, withLeft }: Named & { readonly withLeft: boolean },
  signal: AbortSignal,
): Promise<ServiceProgress> {
  const timeoutMs = withLeft ? countMs : callMs;
  try {
    const found = await client.findErasure({ organizer, event, case: id, withLeft }, { signal, timeoutMs });
    return { service, state: states[found.state] ?? "unasked", parts: found.parts, left: found.left };
  } catch {
    return { service, state: "silent", parts: [], left: [] };
  }
}

const states: Readonly<Partial<Record<ErasureState, ServiceProgress["state"]>>> = {
  [ErasureState.RUNNING]: "erasing",
  [ErasureState.DONE]: "done",
};
