import { readFile } from "node:fs/promises";
import { loadServices } from "@tessera/cli/services";
import { catalogue, topics } from "@tessera/protos/topics";
import { isShredder } from "@tessera/values";
import { describe, expect, it } from "vitest";

/** What a comment in a schema says of a table or a column. */
interface Declared {
  /** `table` or `table.column`. */
  readonly name: string;
  readonly comment: string;
  readonly kinds: readonly string[];
}

const grammar = /^personal data: (\w+(?:, \w+)*)(?:; \S.*)?$/;

async function readDeclared(service: string): Promise<Declared[]> {
  const folder = service === "gateway" ? service : `services/${service}`;
  const schema = await readFile(new URL(`../../${folder}/schema.sql`, import.meta.url), "utf8");
  const comments = schema.matchAll(/^comment on (?:table|column) (\S+) is '(personal data.*)';$/gm);
  return [...comments].map(([, name = "", comment = ""]) => ({
    name: name.replaceAll('"', ""),
    comment,
    kinds: grammar.exec(comment)?.[1]?.split(", ") ?? [],
  }));
}

const tableOf = (name: string) => name.split(".")[0] ?? "";

/** A table stands for its columns, and the other way round where only one of the two is named. */
function isSame(holding: string, declared: string): boolean {
  if (holding === declared) return true;
  return tableOf(holding) === tableOf(declared) && (!holding.includes(".") || !declared.includes("."));
}

/** In every schema: what they hold goes by itself after some days, and kit erases it with the event as far as it can be told. */
const transient = ["answered_request.response", "dead_letter.payload", "outbox.payload", "work.payload", "work.result"];

const services = await loadServices(["all"]);

describe.each(services.map(({ name, holdings = [] }) => [name, holdings] as const))(
  "what %s holds of people",
  (service, holdings) => {
    it("is declared in words that say who erases it", async () => {
      const declared = await readDeclared(service);
      expect(declared.map(({ name }) => name)).toEqual(expect.arrayContaining(transient));
      const unclear = declared.filter(
        ({ kinds }) => kinds.length === 0 || !kinds.every((kind) => kind === "kept" || isShredder(kind)),
      );
      expect(unclear.map(({ name, comment }) => `${name}: ${comment}`)).toEqual([]);
      for (const { name, kinds } of declared)
        if (transient.includes(name)) expect([name, kinds]).toEqual([name, ["kept"]]);
    });

    it("[D3.1] has a holding of each kind that its schema declares", async () => {
      const missing = (await readDeclared(service)).flatMap(({ name, kinds }) =>
        kinds
          .filter((kind) => kind !== "kept")
          .filter((kind) => !holdings.some((holding) => holding.kind === kind && isSame(holding.name, name)))
          .map((kind) => `${name} ${kind}`),
      );
      expect(missing).toEqual([]);
    });

    it("[D3.1] is declared where it says that it holds something", async () => {
      const declared = await readDeclared(service);
      const undeclared = holdings
        .filter(({ name }) => !name.endsWith("/"))
        .filter(({ name, kind }) => !declared.some((each) => isSame(name, each.name) && each.kinds.includes(kind)));
      expect(undeclared.map(({ name, kind }) => `${name} ${kind}`)).toEqual([]);
      expect(holdings.filter(({ kind }) => !isShredder(kind))).toEqual([]);
    });

    it("is asked for where it holds some, or takes facts that carry it and may be parked", () => {
      const { consumes = [] } = services.find(({ name }) => name === service) ?? {};
      const carriers = catalogue.filter(
        ({ name, personalData }) =>
          consumes.includes(name) && Object.keys(personalData).some((kind) => kind !== "kept"),
      );
      const holdsSome = holdings.length > 0 || carriers.length > 0;
      expect(consumes.includes(topics.shredRequested.name)).toBe(holdsSome);
    });

    it("[D3.1] is erased by the owner of each topic that carries it", () => {
      const carried = catalogue
        .filter(({ owner }) => owner === service)
        .flatMap(({ personalData }) => Object.keys(personalData))
        .filter((kind) => kind !== "kept");
      expect(carried.filter((kind) => !holdings.some((holding) => holding.kind === kind))).toEqual([]);
    });
  },
);
