import { parseInstant } from "@tessera/values";
import { convertLayout } from "./convert-layout.ts";
import type { ListSource } from "./event-lists.ts";
import { addRecord, addressIn, askedSince, describeScope, mayMove, type Scope } from "./import-run.ts";
import type { Json } from "./read-answer.ts";
import { type Page, readList, unchanged, withheld } from "./read-list.ts";

/** Sends a list, or what has changed in it, as records; `onEach` gets every object. */
export async function importList(scope: Scope, source: ListSource, onEach?: (data: Json) => void): Promise<void> {
  const { run, state } = scope;
  const { path, kind, increments } = source;
  const asksSince = typeof increments === "object" ? increments : undefined;
  const mark = state.marks.get(path);
  const parameter = asksSince === undefined ? {} : { [asksSince.parameter]: askedSince(scope, mark) };
  const isConditional = increments === "conditional" && run.since === undefined;
  const pages = await readList(run.pretix, addressIn(scope, path, { ...source.query, ...parameter }), {
    permission: source.permission,
    expected: source.mayBeMissing === true ? [404, ...(kind === "reusable_medium" ? [403] : [])] : [],
    ifModifiedSince: isConditional ? state.validators.get(path) : undefined,
  });
  if (pages === unchanged) return run.tally.unchanged();
  if (pages === withheld)
    return run.tally.leaveOut(
      `${describeScope(scope)}: ${path}, which this pretix does not have, or for which the token needs ${source.permission}`,
    );

  const rejectedBefore = run.tally.rejectedOf(scope.event, kind);
  let first: Page | undefined;
  let newest: string | undefined;
  let read = 0;
  for await (const page of pages) {
    first ??= page;
    run.onProgress(`${describeScope(scope)}: ${path}`, { read, of: page.count });
    for (const data of page.results) {
      newest = later(newest, asksSince === undefined ? undefined : data[asksSince.newest]);
      onEach?.(data);
      const record = await convert(scope, { source, data, page });
      if (record !== undefined) await addRecord(scope, kind, record);
    }
    read += page.results.length;
  }

  const validator = first === undefined ? undefined : validatorOf(first);
  const next = asksSince?.newest === "X-Page-Generated" ? first?.headers.get("x-page-generated") : newest;
  run.feed.mark(() => {
    // Without a mark the next run reads the list again, and resends rejected records.
    if (run.tally.rejectedOf(scope.event, kind) > rejectedBefore) return;
    if (validator !== undefined) state.validators.set(path, validator);
    if (typeof next === "string" && mayMove(scope, mark)) state.marks.set(path, next);
  });
}

/** The later of two instants, as written. */
function later(one: string | undefined, other: unknown): string | undefined {
  const instant = typeof other === "string" ? parseInstant(other) : undefined;
  if (instant === undefined) return one;
  const known = one === undefined ? undefined : parseInstant(one);
  return known !== undefined && known >= instant ? one : String(other);
}

/** `Last-Modified` has whole seconds: the list may change again within the second in which it was generated. */
function validatorOf({ headers }: Page): string | undefined {
  const modified = headers.get("last-modified") ?? undefined;
  const age = Date.parse(headers.get("date") ?? "") - Date.parse(modified ?? "");
  return age < 1000 ? undefined : modified;
}

/** Undefined: the object is left out of this run. */
async function convert(
  scope: Scope,
  { source, data, page }: { source: ListSource; data: Json; page: Page },
): Promise<Json | undefined> {
  const { pretix, tally } = scope.run;
  if (source.convert === "layout")
    return convertLayout(data, { pretix, onLeftOut: (what) => tally.leaveOut(`${scope.event}: ${what}`) });
  if (source.convert === "voucher") return { ...data, as_of: momentOf(page) };
  return data;
}

/** By the clock of pretix, because it is compared with times of orders. */
function momentOf({ headers }: Page): string {
  const moment = Date.parse(headers.get("date") ?? "");
  return new Date(Number.isNaN(moment) ? Date.now() : moment).toISOString();
}
