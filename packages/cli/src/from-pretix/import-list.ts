import { parseInstant } from "@tessera/values";
import { convertLayout } from "./convert-layout.ts";
import type { ListSource } from "./event-lists.ts";
import { addRecord, addressIn, askedSince, describePlace, mayMove, type Place } from "./import-run.ts";
import type { Json } from "./read-answer.ts";
import { type Page, readList, unchanged, withheld } from "./read-list.ts";

/** Sends a list as records, or as much of it as has changed; `onEach` sees what is sent. */
export async function importList(place: Place, source: ListSource, onEach?: (data: Json) => void): Promise<void> {
  const { run, state } = place;
  const { path, kind, increments } = source;
  const asksSince = typeof increments === "object" ? increments : undefined;
  const mark = state.marks.get(path);
  const parameter = asksSince === undefined ? {} : { [asksSince.parameter]: askedSince(place, mark) };
  const isConditional = increments === "conditional" && run.since === undefined;
  const pages = await readList(run.pretix, addressIn(place, path, { ...source.query, ...parameter }), {
    permission: source.permission,
    expected: source.mayBeMissing === true ? [404, ...(kind === "reusable_medium" ? [403] : [])] : [],
    ifModifiedSince: isConditional ? state.validators.get(path) : undefined,
  });
  if (pages === unchanged) return run.tally.unchanged();
  if (pages === withheld)
    return run.tally.leaveOut(
      `${describePlace(place)}: ${path}, which this pretix does not have, or the token needs ${source.permission}`,
    );

  const rejectedBefore = run.rejectedOf(place.event, kind);
  let first: Page | undefined;
  let newest: string | undefined;
  let read = 0;
  for await (const page of pages) {
    first ??= page;
    run.onProgress(`${describePlace(place)}: ${path}`, { read, of: page.count });
    for (const data of page.results) {
      newest = later(newest, asksSince === undefined ? undefined : data[asksSince.newest]);
      onEach?.(data);
      await addRecord(place, kind, await convert(place, { source, data, page }));
    }
    read += page.results.length;
  }

  const validator = first === undefined ? undefined : validatorOf(first);
  const next = asksSince?.newest === "X-Page-Generated" ? first?.headers.get("x-page-generated") : newest;
  run.feed.mark(() => {
    // What was rejected must come again, so the list is read again.
    if (run.rejectedOf(place.event, kind) > rejectedBefore) return;
    if (validator !== undefined) state.validators.set(path, validator);
    if (typeof next === "string" && mayMove(place, mark)) state.marks.set(path, next);
  });
}

/** The later of two instants, as they were written. */
function later(one: string | undefined, other: unknown): string | undefined {
  const instant = typeof other === "string" ? parseInstant(other) : undefined;
  if (instant === undefined) return one;
  const known = one === undefined ? undefined : parseInstant(one);
  return known !== undefined && known >= instant ? one : String(other);
}

/** `Last-Modified` counts whole seconds: a list that changed in the second in which it was made may change once more. */
function validatorOf({ headers }: Page): string | undefined {
  const modified = headers.get("last-modified") ?? undefined;
  const age = Date.parse(headers.get("date") ?? "") - Date.parse(modified ?? "");
  return age < 1000 ? undefined : modified;
}

async function convert(
  place: Place,
  { source, data, page }: { source: ListSource; data: Json; page: Page },
): Promise<Json> {
  const { pretix, tally } = place.run;
  if (source.convert === "layout")
    return convertLayout(data, { pretix, onLeftOut: (what) => tally.leaveOut(`${place.event}: ${what}`) });
  if (source.convert === "voucher") return { ...data, as_of: momentOf(page) };
  return data;
}

/** By the clock of pretix, because it is held against the times of its orders. */
function momentOf({ headers }: Page): string {
  const moment = Date.parse(headers.get("date") ?? "");
  return new Date(Number.isNaN(moment) ? Date.now() : moment).toISOString();
}
