import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readSources } from "./read-sources.ts";
import { findFullRoots, findStrayStatements, findTwins } from "./rooms.ts";

describe("the repository", () => {
  const paths = readSources(fileURLToPath(new URL("../../", import.meta.url))).map(({ path }) => path);

  it("has at most seven files at the root of a service, of the gateway, kit, engines and the command", () => {
    expect(findFullRoots(paths), "Move files into a folder that is named after what they do.").toEqual([]);
  });

  it("has no two files of one service with one name", () => {
    expect(findTwins(paths), "Name each file after what it does there.").toEqual([]);
  });

  it("has written statements of store files alone", () => {
    expect(
      findStrayStatements(paths),
      "Name the file of statements after the store file, and delete old ones.",
    ).toEqual([]);
  });
});

describe("rooms", () => {
  const eight = ["a", "b", "c", "d", "e", "f", "g", "h"];

  it("finds the eighth file at a root, and counts no tests and no folders", () => {
    const files = (names: readonly string[]) => names.map((name) => `services/checkin/src/${name}.ts`);
    expect(findFullRoots(files(eight))).toEqual(["services/checkin/src: 8"]);
    expect(findFullRoots(files([...eight.slice(1), "a.test", "store/i"]))).toEqual([]);
  });

  it("finds two files with one name, but not those of two services or of two resources", () => {
    const [domain, store] = ["services/checkin/src/domain/alarms.ts", "services/checkin/src/store/alarms.ts"];
    expect(findTwins([domain, store])).toEqual([`${domain}, ${store}`]);
    expect(findTwins([domain, "services/voucher/src/store/alarms.ts"])).toEqual([]);
    expect(findTwins(["gateway/src/routes/a/schema.ts", "gateway/src/routes/b/schema.ts"])).toEqual([]);
    expect(findTwins(["services/checkin/src/index.ts", "services/checkin/src/store/index.ts"])).toEqual([]);
  });

  it("finds statements without a store file", () => {
    const [store, written] = ["services/checkin/src/store/lists.ts", "services/checkin/src/store/statements/lists.sql"];
    expect(findStrayStatements([store, written])).toEqual([]);
    expect(findStrayStatements([written])).toEqual([written]);
  });
});
