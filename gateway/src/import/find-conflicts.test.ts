import { Fault } from "@tessera/kit/fault";
import type { FindOverbookedRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import type { FindAmbiguousSecretsRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import { describe, expect, it } from "vitest";
import { fakeTargets, stream } from "../testing/import-targets.ts";
import { importStream } from "./import-stream.ts";

describe("what an import has overbooked", () => {
  const ofEvent = (kind: string, organizer: string, event: string) =>
    JSON.stringify({ kind, organizer, event, data: { id: 1 } });
  const sold = (...places: readonly (readonly [string, string])[]) => places.map((place) => ofEvent("order", ...place));
  const overbooked = (organizer: string, event: string) => ({ organizer, event, id: 3, size: 1, taken: 2 });

  it("[R8.2] is asked once, about the events whose orders and quotas were taken", async () => {
    const asked: FindOverbookedRequest[] = [];
    const { targets, happened } = fakeTargets({
      boxoffice: async ({ records }) => ({
        rejected: records.filter(({ event }) => event === "no").map(({ line }) => ({ line, errors: [] })),
      }),
      async findOverbooked(request) {
        happened.push("asked");
        asked.push(request);
        return { quotas: [overbooked("o", "e")] };
      },
    });
    const lines = [
      ...sold(["o", "e"], ["o", "e"], ["o", "d"], ["a", "z"], ["o", "no"]),
      ofEvent("quota", "o", "f"),
      ofEvent("item", "o", "g"),
    ];
    expect((await importStream(stream(lines), targets)).overbooked).toEqual([
      { organizer: "o", event: "e", quota: 3, size: 1, taken: 2 },
    ]);
    const places = ["a/z", "o/d", "o/e", "o/f"].map((place) => place.split("/"));
    expect(asked).toEqual([{ events: places.map(([organizer, event]) => ({ organizer, event })) }]);
    expect(happened.indexOf("asked")).toBeGreaterThan(happened.findIndex((line) => line.includes("ends")));
  });

  it("[R8.12] is asked for once boxoffice has heard of the vouchers that the import brought", async () => {
    const { targets, happened } = fakeTargets({
      async findOverbooked() {
        happened.push("asked");
        return { quotas: [] };
      },
    });
    const readers = new Map(targets.readers).set("boxoffice", async () => {
      happened.push("boxoffice has heard");
      return { caughtUp: true };
    });
    await importStream(stream([ofEvent("quota", "o", "e"), ofEvent("voucher", "o", "e")]), { ...targets, readers });
    expect(happened).toContain("voucher marks");
    expect(happened.lastIndexOf("boxoffice has heard")).toBeLessThan(happened.indexOf("asked"));
  });

  it("[R8.3] is the first hundred quotas of however many events", async () => {
    const sizes: number[] = [];
    const { targets } = fakeTargets({
      async findOverbooked({ events }) {
        sizes.push(events.length);
        // In the first call every third event, in the others every event.
        const found = events.filter((_event, index) => sizes.length > 1 || index % 3 === 0);
        return { quotas: found.slice(0, 100).map(({ organizer, event }) => overbooked(organizer, event)) };
      },
    });
    const events = Array.from({ length: 700 }, (_, index) => `e${String(index).padStart(3, "0")}`);
    const { overbooked: found } = await importStream(
      stream(sold(...events.map((event) => ["o", event] as const))),
      targets,
    );
    expect(sizes).toEqual([200, 200]);
    const first = events.filter((_event, index) => (index < 200 ? index % 3 === 0 : index < 233));
    expect(found?.map(({ event }) => event)).toEqual(first);
    expect(found).toHaveLength(100);
  });

  it.each([
    ["the question fails", async () => Promise.reject(new TypeError("a bug"))],
    ["boxoffice is unavailable", async () => Promise.reject(new Fault("unavailable", "peer_unavailable", "away"))],
  ])("[R8.4] is not known when %s, and the import ends well", async (_name, findOverbooked) => {
    const { targets } = fakeTargets({ findOverbooked });
    expect(await importStream(stream(sold(["o", "e"])), targets)).toMatchObject({
      accepted: 1,
      settled: true,
      overbooked: null,
    });
  });

  it("is not asked for when the import ends early", async () => {
    const { targets } = fakeTargets({ boxoffice: async () => Promise.reject(new TypeError("a bug")) });
    const failure = await importStream(
      stream(Array.from({ length: 30 }, () => ofEvent("order", "o", "e"))),
      targets,
    ).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "ImportFailure", summary: { overbooked: null } });
  });
});

describe("secrets that several tickets have", () => {
  const order = (event: string) => JSON.stringify({ kind: "order", organizer: "o", event, data: { code: "A" } });
  const quota = JSON.stringify({ kind: "quota", organizer: "o", event: "f", data: { id: 1 } });

  it("[R7.12, R7.13] are looked for once, in the events whose orders were accepted", async () => {
    const asked: FindAmbiguousSecretsRequest[] = [];
    const { targets } = fakeTargets({
      async findAmbiguousSecrets(request) {
        asked.push(request);
        const positions = [1, 8].map((id) => ({ id, orderCode: `C${id}` }));
        return { secrets: [{ organizer: "o", event: "d", count: 2, positions }] };
      },
    });
    const { ambiguous_secrets } = await importStream(stream([order("e"), quota, order("d"), order("e")]), targets);
    expect(ambiguous_secrets).toEqual([
      {
        organizer: "o",
        event: "d",
        count: 2,
        positions: [
          { order: "C1", id: 1 },
          { order: "C8", id: 8 },
        ],
      },
    ]);
    expect(asked).toEqual([{ events: ["d", "e"].map((event) => ({ organizer: "o", event })) }]);
  });

  it("[R7.14] are not known when boxoffice does not answer, and the import ends well", async () => {
    const { targets } = fakeTargets({ findAmbiguousSecrets: async () => Promise.reject(new TypeError("a bug")) });
    expect(await importStream(stream([order("e")]), targets)).toMatchObject({
      accepted: 1,
      settled: true,
      overbooked: [],
      ambiguous_secrets: null,
    });
  });
});
