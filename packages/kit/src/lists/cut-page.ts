import { fault } from "../faults.ts";

const longestPage = 50;

export interface AskedPage {
  /** From 1; 0 means the last page. */
  readonly page: number;
  readonly pageSize: number;
  /** Of the page that led to this one, if that was a short one. Others are ignored. */
  readonly cursor?: string | undefined;
}

/** A page as a range of all results. */
export interface Cut {
  readonly page: number;
  readonly limit: number;
  readonly offset: number;
  /** It does not begin where its number says, because a page before it was a short one. */
  readonly isMoved: boolean;
}

/** The range of a page in `count` results. The first page exists even without results. */
export function cutPage(asked: AskedPage, count: number): Cut {
  const limit = asked.pageSize >= 1 && asked.pageSize <= longestPage ? asked.pageSize : longestPage;
  const moved = asked.page > 1 ? readOffset(asked.cursor) : undefined;
  if (moved !== undefined) return { page: asked.page, limit, offset: moved, isMoved: true };
  const last = Math.max(1, Math.ceil(count / limit));
  const page = asked.page === 0 ? last : asked.page;
  if (page < 1 || page > last) throw fault("page_not_found", "Invalid page.");
  return { page, limit, offset: (page - 1) * limit, isMoved: false };
}

/** How a page is followed: undefined where the next one begins where its number says. Behind the last page there is no cursor. */
export function followPage(
  { offset, limit, isMoved }: Cut,
  { shown, isShort, count }: { readonly shown: number; readonly isShort: boolean; readonly count: number },
): { readonly cursor?: string } | undefined {
  if (!isShort && !isMoved) return undefined;
  const end = offset + (isShort ? shown : limit);
  return end < count ? { cursor: `from${end}` } : {};
}

/** Of the results of one page. A message may have 16 MiB, and the related resources of the results need space, too. */
const mostBytes = 4 * 2 ** 20;

/** The first results of a page that fit in a message, and the first one in any case. */
export function fitPage<T>(results: readonly T[], bytesOf: (result: T) => number): readonly T[] {
  let bytes = 0;
  const at = results.findIndex((result, index) => {
    bytes += bytesOf(result);
    return index > 0 && bytes > mostBytes;
  });
  return at < 0 ? results : results.slice(0, at);
}

function readOffset(cursor: string | undefined): number | undefined {
  const digits = /^from(\d{1,9})$/.exec(cursor ?? "")?.[1];
  return digits === undefined ? undefined : Number(digits);
}
