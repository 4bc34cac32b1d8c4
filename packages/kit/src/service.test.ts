import type { Topic } from "@tessera/protos/topic";
import { expect, it } from "vitest";
import { consume } from "./bus/consume.ts";
import type { Job } from "./jobs/interval.ts";
import type { Db } from "./pg/database.ts";
import { type Method, rpcs } from "./rpc.ts";
import { callersOf, defineService } from "./service.ts";

const topic: Topic<object> = {
  name: "a.thing-changed.v1",
  owner: "a",
  partitions: 1,
  retention: { kind: "compacted" },
  personalData: {},
  key: () => "",
  encode: () => new Uint8Array(),
  decode: () => ({}),
};
const declared = { name: "b", schema: "b", settings: {}, migrations: new URL("./", import.meta.url), clients: {} };
const things = consume(topic, async (_tx, _facts, _deps: { readonly directory: string }) => {});
const job = (_deps: { readonly db: Db }): Job => ({ name: "job", everyMs: 1, run: async () => {} });
const parts = { ...declared, rpcs: [rpcs({}, {})], consumers: [things], jobs: [job] };

it("a service consumes and calls what its parts name", () => {
  const clients = { one: ["peer", {}], two: ["peer", {}], three: ["other", {}] } as const;
  const service = defineService({ ...parts, clients, start: async ({ db }) => ({ deps: { db, directory: "" } }) });
  expect([service.consumes, service.needs]).toEqual([["a.thing-changed.v1"], ["peer", "other"]]);
});

it("a method has the callers that declare a client of its definition", () => {
  const method = (path: string): Method<object, object> => ({
    path,
    requestSerialize: () => Buffer.alloc(0),
    requestDeserialize: () => ({}),
    responseSerialize: () => Buffer.alloc(0),
    responseDeserialize: () => ({}),
  });
  const reading = { get: method("/read/get"), list: method("/read/list") };
  const writing = { put: method("/write/put") };
  const definitions = [
    { name: "door", clients: { shop: ["shop", reading], again: ["shop", reading], elsewhere: ["till", writing] } },
    { name: "till", clients: { shop: ["shop", writing], reads: ["shop", reading] } },
  ] as const;
  expect([...callersOf("shop", definitions)]).toEqual([
    ["/read/get", ["door", "till"]],
    ["/read/list", ["door", "till"]],
    ["/write/put", ["till"]],
  ]);
  expect([...callersOf("door", definitions)]).toEqual([]);
});

it("a service whose start lacks what a part works with is refused by the compiler", () => {
  // @ts-expect-error the consumer needs a directory
  const lacking = defineService({ ...parts, start: async ({ db }) => ({ deps: { db } }) });
  expect(lacking.consumes).toHaveLength(1);
});
