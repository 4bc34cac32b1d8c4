import { Fault } from "@tessera/kit/fault";
import { longestTurn } from "@tessera/testkit/longest-turn";
import { describe, expect, it, vi } from "vitest";
import { fakeTargets, item, list, stream } from "../testing/import-targets.ts";
import { ImportFailure, importStream } from "./import-stream.ts";

describe("importStream", () => {
  it("[R2.11, R6.2, R6.10, R7.1, R7.2] counts what was accepted and reports what was not", async () => {
    const { targets } = fakeTargets({
      boxoffice: async ({ records }) => ({
        rejected: records
          .filter(({ line }) => line === 4)
          .map(({ line }) => ({ line, errors: [{ field: "price", messages: ["wrong"] }] })),
        warned: { records: [{ line: 1, errors: [{ field: "positions.0.tax_rate", messages: ["doubtful"] }] }] },
      }),
    });
    const lines = [
      item(1),
      "",
      "{",
      item(2),
      "   ",
      list(1),
      JSON.stringify({ kind: "gate", organizer: "o", data: {} }),
    ];
    expect(await importStream(stream(lines), targets)).toEqual({
      records: 5,
      accepted: 3,
      rejected: 2,
      warned: 1,
      warnings: [{ line: 1, kind: "item", warnings: { "positions.0.tax_rate": ["doubtful"] } }],
      kinds: { item: 1, gate: 1, checkin_list: 1 },
      errors: [
        { line: 3, kind: null, errors: { non_field_errors: [expect.any(String)] } },
        { line: 4, kind: "item", errors: { price: ["wrong"] } },
      ],
      ignored: [],
      settled: true,
      overbooked: [],
      ambiguous_secrets: [],
    });
  });

  it("[R1.36] brings no key whose token is that of the operator, also for the operator", async () => {
    const { targets, happened } = fakeTargets({});
    const key = (token: string) => JSON.stringify({ kind: "api_key", organizer: "o", data: { token } });
    const lines = [key("of-the-operator"), key("of-a-shop-of-this-organizer")];
    const isOperatorKey = (token: string) => token === "of-the-operator";
    expect(await importStream(stream(lines), { ...targets, isOperatorKey })).toMatchObject({
      accepted: 1,
      errors: [{ line: 1, kind: "api_key", errors: { token: [expect.any(String)] } }],
    });
    expect(happened.filter((each) => each.includes("begins"))).toEqual(["boxoffice begins 1"]);
  });

  it("[R7.19, R7.20] validates without applying, counting or waiting, and hands on what records would bring", async () => {
    const lines = Array.from({ length: 501 }, (_, index) => item(index + 1));
    const before: string[][] = [];
    const counted: unknown[] = [];
    const { targets, happened } = fakeTargets({
      caughtUp: () => Promise.reject(new Error("nothing is waited for")),
      findOverbooked: () => Promise.reject(new Error("nothing was stored")),
      validate: async ({ records, before: known }) => {
        before.push(known.map(({ key }) => key));
        const bad = records.filter(({ line }) => line === 501);
        const told = bad.map(({ line }) => ({ line, errors: [{ field: "id", messages: ["wrong"] }] }));
        return {
          outcome: {
            rejected: told,
            warned: { records: [{ line: 1, errors: [{ field: "name", messages: ["odd"] }] }] },
          },
          brought: [{ kind: "item", organizer: "o", event: "e", key: String(records.length), names: [], data: "{}" }],
        };
      },
    });
    const summary = await importStream(
      stream([...lines, item(500), list(500)]),
      {
        ...targets,
        onRecord: (outcome) => counted.push(outcome),
        noteWarnings: async (warnings) => void counted.push(warnings),
      },
      { validate: true },
    );
    expect(summary).toEqual({
      ...{ records: 503, accepted: 502, rejected: 1, kinds: { item: 501, checkin_list: 1 }, ignored: [] },
      errors: [{ line: 501, kind: "item", errors: { id: ["wrong"] } }],
      warned: 1,
      warnings: [{ line: 1, kind: "item", warnings: { name: ["odd"] } }],
      ...{ settled: false, overbooked: null, ambiguous_secrets: null },
    });
    expect(happened.map((each) => each.replace(/ \d.*/, ""))).toEqual([
      "boxoffice validates",
      "boxoffice validates",
      "checkin validates",
    ]);
    expect(before).toEqual([[], ["500"], ["500"]]);
    expect(counted).toEqual([]);
  });

  it("[R7.19] hands on what the first half of a batch would bring that an owner failed on", async () => {
    const before: number[] = [];
    const { targets } = fakeTargets({
      validate: async ({ records, before: known }) => {
        if (records.length > 1) throw new Fault("invalid", "broken", "too many");
        before.push(known.length);
        return {
          outcome: { rejected: [] },
          brought: [{ kind: "item", organizer: "o", event: "e", key: "1", names: [], data: "{}" }],
        };
      },
    });
    const summary = await importStream(stream([item(1), item(2, { data: { id: 2, of: 1 } })]), targets, {
      validate: true,
    });
    expect(summary).toMatchObject({ accepted: 2 });
    expect(before).toEqual([0, 1]);
  });

  it("[R6.1] keeps the order, at most 500 to a call, one call at a time, batching while it runs", async () => {
    let open = 0;
    const sizes: number[] = [];
    const lines: number[] = [];
    const { targets } = fakeTargets({
      boxoffice: async ({ records }) => {
        open += 1;
        expect(open).toBe(1);
        sizes.push(records.length);
        lines.push(...records.map(({ line }) => line));
        await new Promise((resolve) => setTimeout(resolve, 2));
        open -= 1;
        return { rejected: [] };
      },
    });
    const summary = await importStream(stream(Array.from({ length: 1234 }, (_, index) => item(index + 1))), targets);
    expect(summary).toMatchObject({ records: 1234, accepted: 1234, settled: true });
    expect(sizes).toEqual([500, 500, 234]);
    expect(lines).toEqual(Array.from({ length: 1234 }, (_, index) => index + 1));
  });

  it("[R6.1] keeps calls to about a megabyte; a larger record travels alone", async () => {
    const sizes: number[] = [];
    const { targets } = fakeTargets({
      boxoffice: async ({ records }) => {
        sizes.push(records.length);
        return { rejected: [] };
      },
    });
    const large = (bytes: number) => item(1, { data: { id: 1, x: "x".repeat(bytes) } });
    await importStream(
      stream([large(400_000), large(400_000), large(400_000), large(3_000_000), large(10), large(10)]),
      targets,
    );
    expect(sizes).toEqual([2, 1, 1, 2]);
  });

  it("[R1.3, R6.7] reads no further while an owner is busy", async () => {
    let read = 0;
    let goOn = () => {};
    const { targets } = fakeTargets({
      boxoffice: () =>
        new Promise((resolve) => {
          goOn = () => resolve({ rejected: [] });
        }),
    });
    const importing = importStream(
      (async function* () {
        for (; read < 5000; read += 1) yield Buffer.from(`${item(read)}\n`);
      })(),
      targets,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    // One batch is being applied, one is full, and one record waits.
    expect(read).toBeLessThan(1010);
    const pump = setInterval(() => goOn(), 1);
    expect(await importing).toMatchObject({ accepted: 5000 });
    clearInterval(pump);
  });

  it("[R3.60] lets lists wait until checkin has caught up with what they refer to", async () => {
    let asked = 0;
    const { targets, happened } = fakeTargets({ caughtUp: async () => ({ caughtUp: ++asked > 3 }) });
    const summary = await importStream(stream([list(1), item(1), list(2), item(2)]), targets);
    expect(summary).toMatchObject({ accepted: 4, settled: true });
    expect(happened).toEqual([
      "boxoffice begins 2",
      "boxoffice ends 2,4",
      "boxoffice marks",
      "checkin begins 2",
      "checkin ends 1,3",
      "boxoffice marks",
      "checkin marks",
    ]);
    expect(asked).toBe(5);
  });

  it("[R3.60] lets lists wait for checkin alone: a service that is away does not delay them", async () => {
    const { targets, happened } = fakeTargets();
    const readers = new Map(targets.readers);
    readers.set("voucher", async () => {
      if (!happened.includes("checkin ends 2")) throw new Error("voucher is away");
      return { caughtUp: true };
    });
    const summary = await importStream(stream([item(1), list(2)]), { ...targets, readers });
    expect(summary).toMatchObject({ accepted: 2, settled: true });
  });

  it("[R3.60] applies lists before what they refer to is removed", async () => {
    const { targets, happened } = fakeTargets();
    await importStream(stream([item(1), list(1), item(1, { deleted: true }), list(2)]), targets);
    expect(happened.filter((line) => line.includes("ends"))).toEqual([
      "boxoffice ends 1",
      "checkin ends 2",
      "boxoffice ends 3",
      "checkin ends 4",
    ]);
  });

  it("lets an owner wait for those that it comes after, whichever these are", async () => {
    const { targets, happened } = fakeTargets();
    const { boxoffice, checkin, ...others } = targets.owners;
    const owners = {
      boxoffice: { ...boxoffice, after: ["checkin" as const] },
      checkin: { ...checkin, after: [] },
      ...others,
    };
    await importStream(stream([item(1), list(2), `${list(3).slice(0, -1)},"deleted":true}`]), { ...targets, owners });
    expect(happened.filter((line) => !line.includes("begins"))).toEqual([
      "checkin ends 2",
      "checkin marks",
      "boxoffice ends 1",
      "checkin ends 3",
      "checkin marks",
      "boxoffice marks",
    ]);
  });

  it("[R7.6] reports that a reader has not caught up in time", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { targets } = fakeTargets({
      caughtUp: async () => {
        vi.setSystemTime(Date.now() + 20_000);
        return { caughtUp: false };
      },
    });
    expect(await importStream(stream([item(1)]), targets)).toMatchObject({ accepted: 1, settled: false });
    vi.useRealTimers();
  });

  it("[R7.7] settles nothing when nothing was applied", async () => {
    const { targets, happened } = fakeTargets();
    expect(await importStream(stream([JSON.stringify({ kind: "item" })]), targets)).toMatchObject({
      rejected: 1,
      settled: true,
    });
    expect(happened).toEqual([]);
  });

  it("[R7.3] reports the first thousand errors and counts all", async () => {
    const { targets } = fakeTargets();
    const summary = await importStream(stream(Array.from({ length: 1500 }, () => '{"kind":"item"}')), targets);
    expect(summary).toMatchObject({ records: 1500, accepted: 0, rejected: 1500 });
    expect(summary.errors).toHaveLength(1000);
    const all = await importStream(stream(Array.from({ length: 1500 }, () => '{"kind":"item"}')), targets, {
      mostErrors: 1400,
    });
    expect(all).toMatchObject({ rejected: 1500 });
    expect(all.errors).toHaveLength(1400);
  });

  it("[R2.13, R6.10] skips a line that is too long, in constant memory", async () => {
    const { targets } = fakeTargets();
    async function* long() {
      yield Buffer.from(`${item(1)}\n{"kind":"`);
      for (let sent = 0; sent < 40; sent += 1) yield Buffer.alloc(1024 * 1024, "x");
      yield Buffer.from(`"}\n${item(2)}`);
    }
    expect(await importStream(long(), targets)).toMatchObject({
      records: 3,
      accepted: 2,
      errors: [{ line: 2, kind: null }],
    });
  });

  it.each([
    ["nothing", []],
    ["blank lines", ["", "  ", "\t"]],
    ["HTML", ["<html>", "</html>"]],
    ["a JSON array", [`[${item(1)}]`]],
    ["an array over several lines", ["[", item(1), "]"]],
    ["a text", ['"x"']],
  ])("[R7.4] takes %s for no records at all", async (_name, lines) => {
    const { targets, happened } = fakeTargets();
    await expect(importStream(stream(lines), targets)).rejects.toMatchObject({
      name: "Fault",
      kind: "invalid",
      code: "not_records",
    });
    expect(happened).toEqual([]);
  });

  it.each([
    ["a line that is cut off", '{"kind": "item", '],
    ["a comment", "# my shop"],
  ])("[R7.17] takes %s at the beginning for a bad line", async (_name, line) => {
    const { targets } = fakeTargets();
    const summary = await importStream(stream([line, item(1), item(2)]), targets);
    expect(summary).toMatchObject({ records: 3, accepted: 2, rejected: 1, errors: [{ line: 1, kind: null }] });
  });

  it("[R7.17] reads no more than ten lines of what holds no records", async () => {
    const { targets, happened } = fakeTargets();
    let read = 0;
    function* rows() {
      for (;;) {
        read += 1;
        yield `${read},name`;
      }
    }
    await expect(importStream(stream(rows()), targets)).rejects.toMatchObject({ code: "not_records" });
    expect(read).toBeLessThan(15);
    expect(happened).toEqual([]);
  });

  it("[R7.8] applies what a broken stream held, and says so", async () => {
    const { targets } = fakeTargets();
    const broken = new Fault("invalid", "gzip_broken", "cut off");
    async function* breaking() {
      yield Buffer.from(`${item(1)}\n${item(2)}\n{"kind":`);
      throw broken;
    }
    const failure = await importStream(breaking(), targets).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ImportFailure);
    expect(failure).toMatchObject({ cause: broken, summary: { records: 2, accepted: 2, settled: true } });
  });

  it("tells of its progress", async () => {
    const reported: number[] = [];
    const { targets } = fakeTargets();
    await importStream(stream(Array.from({ length: 1100 }, (_, index) => item(index + 1))), targets, {
      onProgress: ({ records, bytes }) => {
        expect(bytes).toBeGreaterThan(records * 40);
        reported.push(records);
      },
    });
    expect(reported).toEqual([500, 1000, 1100]);
  });

  it("ends when it is aborted", async () => {
    const stopping = new AbortController();
    const { targets } = fakeTargets();
    async function* endless() {
      for (let id = 1; ; id += 1) {
        if (id === 1200) stopping.abort(new Error("enough"));
        yield Buffer.from(`${item(id)}\n`);
      }
    }
    await expect(importStream(endless(), targets, { signal: stopping.signal })).rejects.toThrow("enough");
  });
});

describe("several imports at a time", () => {
  it("[S4.22] send their owner two batches at a time, and take turns", async () => {
    let [underWay, most] = [0, 0];
    const events: string[] = [];
    const { targets } = fakeTargets({
      async boxoffice({ records }) {
        underWay += 1;
        most = Math.max(most, underWay);
        events.push(records[0]?.event ?? "");
        await new Promise((resolve) => setTimeout(resolve, 5));
        underWay -= 1;
        return { rejected: [], ignored: undefined };
      },
    });
    const of = (event: string, batches: number) =>
      importStream(stream(Array.from({ length: batches * 500 }, (_, id) => item(id + 1, { event }))), targets);
    const large = [of("a", 8), of("b", 8), of("c", 8)];
    await expect.poll(() => events.length).toBeGreaterThan(3);
    const before = events.length;
    const small = await of("small", 1);
    expect(small).toMatchObject({ accepted: 500, settled: true });
    expect(events.indexOf("small") - before).toBeLessThan(8);
    for (const summary of await Promise.all(large)) expect(summary.accepted).toBe(4000);
    expect(most).toBe(2);
  });
});

describe("a stream of blank lines", () => {
  it("[R2.11, S4.23] costs hardly more than its bytes", async () => {
    const { targets } = fakeTargets();
    const blank = Buffer.alloc(64 * 1024, "\n");
    async function* source() {
      for (let sent = 0; sent < 32; sent += 1) yield blank;
      yield Buffer.from(" \r\n\t\n");
      yield Buffer.from(`${item(1)}\nx\n`);
    }
    const importBlank = async () =>
      expect(await importStream(source(), targets)).toMatchObject({
        ...{ accepted: 1, rejected: 1, errors: [{ line: 32 * 64 * 1024 + 4 }] },
      });
    expect(await longestTurn(importBlank, { enoughMs: 500 })).toBeLessThan(500);
  });
});
