import { defineWork, json, untilDone } from "@tessera/kit/jobs/work";
import type { BatchFields } from "./domain/batch.ts";

/** A batch that is to be made. */
export interface BatchOrder extends BatchFields {
  readonly organizer: string;
  readonly event: string;
  /** A random UUID; it names the sale in boxoffice, too. */
  readonly job: string;
}

/** What became of it. */
export interface MadeBatch {
  readonly id: number;
}

const dayMs = 86_400_000;

/** So many failures in a row are some twenty minutes. */
export const mostFailures = 25;

/**
 * Batches that are made. The work itself gives up when tickets cannot be sold: what an answer that was lost has sold is to
 * be canceled first, so a try that fails is never simply the last one.
 */
export const makeBatch = defineWork<BatchOrder, MadeBatch>("make batch", {
  payload: json(),
  result: json(),
  leaseMs: 30_000,
  tries: untilDone,
  keepMs: dayMs,
  atOnce: 2,
  mostWaiting: 100,
});

/** The id of the work: those who ask for it name the event and the job, and both must fit. */
export function makingId({
  organizer,
  event,
  job,
}: {
  readonly organizer: string;
  readonly event: string;
  readonly job: string;
}): string {
  return [organizer, event, job].join("/");
}

/** What the ids of all work of an event begin with. */
export function makingsOf({ organizer, event }: { readonly organizer: string; readonly event: string }): string {
  return `${organizer}/${event}/`;
}
