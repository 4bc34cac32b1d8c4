import { expect, it } from "vitest";
import { cutPage, fitPage, followPage } from "./cut-page.ts";

const mebibyte = 2 ** 20;

/** Walks through all pages of a list, and returns them. */
function walk(sizes: readonly number[], pageSize: number): number[][] {
  const pages: number[][] = [];
  const count = sizes.length;
  for (let page = 1, cursor: string | undefined; ; page += 1) {
    const cut = cutPage({ page, pageSize, cursor }, count);
    const found = sizes.slice(cut.offset, cut.offset + cut.limit);
    const shown = fitPage(found, (size) => size);
    pages.push([...shown]);
    const next = followPage(cut, { shown: shown.length, isShort: shown.length < found.length, count });
    cursor = next?.cursor;
    if (next === undefined ? page >= Math.ceil(count / pageSize) : cursor === undefined) return pages;
  }
}

it.each<[string, number[], number, number[]]>([
  ["of small results", [1, 2, 3, 4, 5], 2, [2, 2, 1]],
  ["of results that are too large together", Array(5).fill(1.5 * mebibyte), 3, [2, 2, 1]],
  ["of results that are too large alone", Array(3).fill(9 * mebibyte), 2, [1, 1, 1]],
  ["of a large one behind small ones", [1, 1, 5 * mebibyte, 1, 1, 1, 1], 3, [2, 1, 3, 1]],
  ["of nothing", [], 3, [0]],
])("pages %s lead through all of them", (_what, sizes, pageSize, expected) => {
  const pages = walk(sizes, pageSize);
  expect(pages.map((page) => page.length)).toEqual(expected);
  expect(pages.flat()).toEqual(sizes);
});

it("a page without a cursor of its own begins where its number says", () => {
  for (const cursor of [undefined, "", "from", "from-1", "from1x", "1.2.abc.def", "from1234567890"])
    expect(cutPage({ page: 2, pageSize: 3, cursor }, 9)).toMatchObject({ offset: 3 });
  expect(cutPage({ page: 1, pageSize: 3, cursor: "from7" }, 9)).toMatchObject({ offset: 0 });
  expect(cutPage({ page: 0, pageSize: 3, cursor: "from7" }, 9)).toMatchObject({ offset: 6, page: 3 });
});

it("a page behind results that are gone is the last one", () => {
  const cut = cutPage({ page: 9, pageSize: 3, cursor: "from7" }, 2);
  expect(followPage(cut, { shown: 0, isShort: false, count: 2 })).toEqual({});
});
