import { expect, it } from "vitest";
import { readPages } from "./read-pages.ts";

const numbers = Array.from({ length: 101 }, (_, index) => index);

/** A server with pages of fifty. */
function serve(last = 3) {
  const asked: string[] = [];
  const readPage = async (path: string) => {
    asked.push(path);
    const page = asked.length;
    return {
      results: numbers.slice((page - 1) * 50, page * 50),
      next: page < last ? `https://elsewhere.example/${path}` : null,
    };
  };
  return { asked, readPage };
}

it("[G2.6] reads a list page by page, until there is no next one", async () => {
  const { asked, readPage } = serve();
  expect(await readPages("lists/?expand=subevent", readPage)).toEqual({ kind: "listed", results: numbers });
  expect(asked).toEqual([1, 2, 3].map((page) => `lists/?expand=subevent&page=${page}`));
});

it("[G2.6] asks once for what has one page", async () => {
  const { asked, readPage } = serve(1);
  expect(await readPages("gates/", readPage)).toEqual({ kind: "listed", results: numbers.slice(0, 50) });
  expect(asked).toEqual(["gates/?page=1"]);
});

it("[G2.6] shows no part of a list for all of it", async () => {
  const { asked, readPage } = serve();
  const failing = async (path: string) => (asked.length < 2 ? readPage(path) : { kind: "offline" as const });
  expect(await readPages("gates/", failing)).toEqual({ kind: "offline" });
});

it("ends where a server always has another page", async () => {
  const { asked, readPage } = serve(Number.POSITIVE_INFINITY);
  expect(await readPages("gates/", readPage)).toMatchObject({ kind: "listed" });
  expect(asked).toHaveLength(40);
});
