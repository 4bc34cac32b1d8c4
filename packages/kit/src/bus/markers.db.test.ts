import { setTimeout as sleep } from "node:timers/promises";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { eventually } from "@tessera/testkit/eventually";
import { noteEffects, type Pipeline, quiet } from "@tessera/testkit/fact-pipeline";
import { first, ownerAndReader, second } from "@tessera/testkit/owner-and-reader";
import { describe, expect, it } from "vitest";
import { systemClock } from "../clock.ts";
import { type Client, connect } from "../rpc.ts";
import { keepFactTables } from "./keep-tables.ts";
import { factsService, hasPassed } from "./markers.ts";

const database = ownerAndReader();
const { effects, publish, running, start } = database;

describe("markers", () => {
  const consumes = [first.name, second.name];

  /** FactsService of the owner of the topics or of their reader, as others call it. */
  function factsOf(name: "owner" | "reader", { bus }: Pipeline): Client<typeof FactsServiceService> {
    const [db, owns, reads] = name === "owner" ? [database.owner, consumes, []] : [database.reader, [], consumes];
    const registry = inProcess({ log: quiet });
    running.push({ stop: () => registry.close() });
    registry.serve(name, [factsService({ db, bus, group: name, owns, consumes: reads })]);
    return connect(FactsServiceService, registry.transportTo(name));
  }

  it("are passed when everything before them was consumed or parked, and not before", async () => {
    const release = Promise.withResolvers<void>();
    const pipeline = await start({
      topics: [first, second],
      async apply(tx, topicName, facts) {
        await release.promise;
        if (facts.some((fact) => fact.value?.number === 2)) throw new Error("poison");
        await noteEffects(tx, topicName, facts);
      },
    });
    await publish([1, 2, 3]);
    await database.owner.transaction((tx) => tx.publish(second, [{ key: "other", number: 1 }]));
    const marked = await factsOf("owner", pipeline).markFacts({});
    const partitions = await pipeline.bus.partitions(first.name);
    expect(marked.partitions).toEqual(
      consumes.flatMap((topic) => Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))),
    );
    const facts = factsOf("reader", pipeline);
    const caughtUp = async () => (await facts.caughtUp(marked)).caughtUp;
    await sleep(100);
    expect(await caughtUp()).toBe(false);
    release.resolve();
    await eventually(caughtUp);
    expect(await effects()).toEqual({ k: [1, 3], other: [1] });
  });

  it("of a topic that a group does not read are not waited for, and one group's are not another's", async () => {
    const pipeline = await start({ topics: [first] });
    const marked = await factsOf("owner", pipeline).markFacts({});
    const passed = (group: string, read: readonly string[]) =>
      hasPassed(database.reader, { group, consumes: read, marker: marked.marker, partitions: marked.partitions });
    await eventually(() => passed("reader", [first.name]));
    expect(await passed("reader", consumes)).toBe(false);
    expect(await passed("another", [first.name])).toBe(false);
    expect(await passed("another", [])).toBe(true);
    expect(await passed("another", ["reader.third.v1"])).toBe(true);
  });

  it("are forgotten an hour later", async () => {
    const pipeline = await start({ topics: [first] });
    const { marker, partitions } = await factsOf("owner", pipeline).markFacts({});
    const passed = () => hasPassed(database.reader, { group: "reader", consumes: [first.name], marker, partitions });
    await eventually(passed);
    await keepFactTables(database.reader, { now: () => systemClock.now() + 3_500_000_000 });
    expect(await passed()).toBe(true);
    await keepFactTables(database.reader, { now: () => systemClock.now() + 3_700_000_000 });
    expect(await passed()).toBe(false);
  });

  it("of a service that owns nothing are passed at once", async () => {
    const pipeline = await start();
    const facts = factsOf("reader", pipeline);
    const marked = await facts.markFacts({});
    expect(marked.partitions).toEqual([]);
    expect(await facts.caughtUp(marked)).toEqual({ caughtUp: true });
  });
});
