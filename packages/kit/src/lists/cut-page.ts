import { fault } from "../faults.ts";

/** The largest page. */
const longestPage = 50;

/** The position of a page among `count` results. Page 0 means the last page. The first page exists even without results. */
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
