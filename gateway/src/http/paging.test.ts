import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aList } from "../testing/fake-peers.ts";
import { requireDocumented } from "../testing/require-documented.ts";
import { inEvent, publicBase, type ServedApp, serveApp } from "../testing/serve-app.ts";
import { paging } from "./paging.ts";
import { countFilter, flagFilter } from "./parameter.ts";

const lists = `${inEvent}/checkinlists/`;

let app: ServedApp;
/** How many lists there are. */
let count: number;
beforeAll(async () => {
  app = await serveApp();
  app.peers.when("checkinLists", "listCheckinLists", async ({ page, pageSize }) => {
    const served = page === 0 ? Math.max(1, Math.ceil(count / pageSize)) : page;
    const size = Math.max(0, Math.min(pageSize, count - (served - 1) * pageSize));
    const found = Array.from({ length: size }, (_, index) => aList({}, index + 1));
    return { lists: found, count, page: served, isUnchanged: false };
  });
});
afterAll(() => app.close());
beforeEach(() => {
  count = 120;
});
afterEach(() => requireDocumented(app));

async function pageOf(query: string) {
  const { status, json } = await app.send("GET", `${lists}${query}`);
  const { results, ...rest } = json as { results: unknown[]; count: number; next: string; previous: string };
  expect(status).toBe(200);
  return { ...rest, size: results.length };
}

describe("the size of a page", () => {
  it("[A5.2] is 50", async () => {
    expect(await pageOf("")).toMatchObject({ count: 120, size: 50 });
  });

  it.each([
    ["1", 1],
    ["49", 49],
    [" 7 ", 7],
    ["50", 50],
    ["51", 50],
    ["99999999999999999999", 50],
  ])("[A5.3, S4.1] is what page_size=%s says, up to 50", async (sent, size) => {
    expect((await pageOf(`?page_size=${encodeURIComponent(sent)}`)).size).toBe(size);
  });

  it.each(["0", "-1", "1.5", "ten", "1e1", ""])("[A5.4] stays with page_size=%s", async (sent) => {
    expect((await pageOf(`?page_size=${sent}`)).size).toBe(50);
  });
});

describe("the way through the pages", () => {
  it("[A5.4] is documented as it is read: what is ignored is no mistake", () => {
    expect(paging.page_size.schema).not.toHaveProperty("minimum");
    expect(paging.page_size.read(["0"])).toEqual({ value: 50 });
    expect(paging.page_size.description).toContain("anything else is ignored");
    const flag = flagFilter("Only those.");
    expect(flag.read(["null"])).toEqual({ value: undefined });
    expect(flag.description).toContain("anything else is no filter");
    const count = countFilter("How many.");
    expect(count.read(["0.5"])).toEqual({ value: -1 });
    expect(count.description).toContain("A fraction matches nothing");
  });

  it("[A5.1, A5.7, A5.8] leads from the first to the last and back", async () => {
    const at = (number: number) => `${publicBase}${lists}${number === 1 ? "" : `?page=${number}`}`;
    expect(await pageOf("")).toEqual({ count: 120, size: 50, previous: null, next: at(2) });
    expect(await pageOf("?page=2")).toEqual({ count: 120, size: 50, previous: at(1), next: at(3) });
    expect(await pageOf("?page=3")).toEqual({ count: 120, size: 20, previous: at(2), next: null });
    expect(await pageOf("?page=last")).toEqual(await pageOf("?page=3"));
  });

  it("[A5.10] begins where no page is named", async () => {
    expect(await pageOf("?page=")).toMatchObject({ size: 50, previous: null });
  });

  it("[A5.11] ends behind the last page", async () => {
    expect(await app.send("GET", `${lists}?page=4`)).toMatchObject({
      status: 404,
      json: { detail: expect.any(String) },
    });
  });

  it("[A5.12] is one empty page where there is nothing", async () => {
    count = 0;
    const empty = { count: 0, size: 0, previous: null, next: null };
    for (const query of ["", "?page=1", "?page=last"]) expect(await pageOf(query)).toEqual(empty);
    expect((await app.send("GET", `${lists}?page=2`)).status).toBe(404);
  });
});
