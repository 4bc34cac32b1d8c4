import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readSources } from "./read-sources.ts";
import { findFullRoots, findStrayStatements, findTwins, findUnwrittenStatements } from "./rooms.ts";

describe("the repository", () => {
  const sources = readSources(fileURLToPath(new URL("../../", import.meta.url)));
  const paths = sources.map(({ path }) => path);

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

  it("has the statements of each store file that makes them of parts in one piece", () => {
    const remedy = "Ask for each in src/store/statements.test.ts of the service, and run `npm run statements`.";
    expect(findUnwrittenStatements(sources), remedy).toEqual([]);
  });
});

describe("rooms", () => {
  const path = "services/checkin/src/store/lists.ts";
  /** Text in which `#` stands before the braces of a template. */
  const toSource = (code: string) => code.replaceAll("#{", `\${`);
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

  it.each([
    ["chooses a part", "db.one(sql`select #{all ? sql`1` : sql`2`}`)"],
    ["joins parts", 'db.one(sql`select #{joinSql(columns, ", ")}`)'],
    ["names a part", "const isOpen = sql`\n  list.open`;\ndb.one(sql`select #{isOpen}`)"],
    [
      "makes a part",
      "const isOf = (id: number) => sql`list.id = #{id}`;\ntx.run(sql`delete from list where #{isOf(1)}`)",
    ],
    ["makes a part in steps", "function isOf(id: number): Sql {\n}\ndb.many(sql`select from list where #{isOf(1)}`)"],
    ["takes a part", 'import { isOf, type List } from "./other.ts";\ndb.run(sql`delete from list where #{isOf(1)}`)'],
  ])("finds a store file that %s and has no written statements", (_name, code) => {
    const text = toSource(code);
    const written = { path: "services/checkin/src/store/statements/lists.sql", text: "" };
    expect(findUnwrittenStatements([{ path, text }])).toEqual([path]);
    expect(findUnwrittenStatements([{ path, text }, written])).toEqual([]);
    expect(findUnwrittenStatements([{ path: "services/checkin/src/handlers/lists.ts", text }])).toEqual([]);
  });

  it("takes no statement with values alone for one of parts", () => {
    const code =
      'import { idKey } from "./keys.ts";\ndb.one(sql`select from list where list.id = #{id} and #{idKey("list")}`)';
    expect(findUnwrittenStatements([{ path, text: toSource(code) }])).toEqual([]);
  });
});
