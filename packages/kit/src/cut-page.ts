import { fault } from "./faults.ts";

/** No page has more. */
const longestPage = 50;

/** Where a page lies among `count` results. Page 0 is the last one; the first one is there even when nothing is. */
export function cutPage(
  asked: { readonly page: number; readonly pageSize: number },
  count: number,
): { readonly page: number; readonly limit: number; readonly offset: number } {
  const limit = asked.pageSize >= 1 && asked.pageSize <= longestPage ? asked.pageSize : longestPage;
  const last = Math.max(1, Math.ceil(count / limit));
  const page = asked.page === 0 ? last : asked.page;
  if (page < 1 || page > last) throw fault("page_not_found", "Invalid page.");
  return { page, limit, offset: (page - 1) * limit };
}
