import { defineWork, json, nothing, untilDone } from "@tessera/kit/jobs/work";
import { isUuid } from "@tessera/values";
import type { Named } from "../domain/named.ts";

const hourMs = 3_600_000;

/** Exports; their files are kept for two hours (D5.3). */
export const exporting = defineWork("export personal data", {
  payload: json<Named>(),
  result: nothing,
  leaseMs: 60_000,
  tries: 5,
  keepMs: 2 * hourMs,
  atOnce: 2,
  atOnceEach: 1,
  mostWaiting: 20,
  // An event may have more than this: nothing is erased that was not exported.
  files: { mostBytes: 8 * 1024 ** 3 },
});

/** Cases; callers can read how they ended for an hour (D6.6). */
export const shredding = defineWork("shred personal data", {
  payload: json<Named>(),
  result: nothing,
  leaseMs: 60_000,
  tries: untilDone,
  keepMs: hourMs,
  atOnce: 4,
  atOnceEach: 2,
  mostWaiting: 20,
});

/** A status is not "running" for ever. What is late is erased all the same, and certified then. */
export const patienceMs = 50 * 60_000;

/** Whether work has not ended. */
export function isUnderWay(work: { readonly state: string } | undefined): boolean {
  return work?.state === "waiting" || work?.state === "running";
}

/** Work is named after its event, too: in another event it does not exist. */
export function workId({ organizer, event, id }: Named): string {
  return [organizer, event, id].join("/");
}

/** What the ids of all work of an event begin with. */
export function worksOf({ organizer, event }: Omit<Named, "id">): string {
  return `${organizer}/${event}/`;
}

/** The folder of all exports in the store for files. */
export const exportsPrefix = "shredder-exports/";

/** The folder of the exports of an event. */
export function exportsOf(event: Omit<Named, "id">): string {
  return exportsPrefix + worksOf(event);
}

/** The id of the export that a key belongs to; undefined for any other key. */
export function exportAt(key: string): string | undefined {
  const [id = ""] = key.split("/").slice(3);
  return key.startsWith(exportsPrefix) && isUuid(id) ? id : undefined;
}
