import { createLog } from "@tessera/kit/telemetry/log";
import { beforeEach, describe, expect, it } from "vitest";
import type { Claim, Claiming } from "../store/kept-answers.ts";
import { endClaims } from "./end-claims.ts";
import type { AnswerStore } from "./repeat-answers.ts";

const claim: Claim = { caller: "c", key: "k", requestId: "r", attempt: 1 };
const request = { caller: "c", key: "k", requestHash: Buffer.of(1), of: undefined };
const answer = { status: 201, headers: {}, body: null };

let written: string[];
let logged: string[];
beforeEach(() => {
  written = [];
  logged = [];
});

/** A store whose first writes fail, or hang. */
function store({ failures = 0, claiming }: { failures?: number; claiming?: Promise<Claiming> } = {}): AnswerStore {
  let left = failures;
  const write = async (name: string) => {
    left -= 1;
    if (left >= 0) throw new Error("the connection was lost");
    written.push(name);
  };
  const ended = endClaims(
    {
      claim: () => claiming ?? Promise.resolve({ kind: "claimed", claim }),
      find: async () => undefined,
      isFull: () => false,
      keep: ({ key }, { status }) => write(`keep ${key} ${status}`),
      release: ({ key }) => write(`release ${key}`),
    },
    {
      log: createLog({ service: "test", destination: { write: (line) => void logged.push(line) } }),
      patienceMs: 30,
      pausesMs: [1, 5, 10],
    },
  );
  return ended;
}

describe("a claim", () => {
  it("that comes in time is its request's", async () => {
    expect(await store().claim(request)).toEqual({ kind: "claimed", claim });
    expect(written).toEqual([]);
  });

  it("[A10.19] that arrives after its request has ended is released, even if the store fails at first", async () => {
    const late = Promise.withResolvers<Claiming>();
    const claiming = store({ claiming: late.promise, failures: 2 }).claim(request);
    await expect(claiming).rejects.toMatchObject({ kind: "unavailable", code: "database_unavailable" });
    expect(written).toEqual([]);
    late.resolve({ kind: "claimed", claim });
    await expect.poll(() => written).toEqual(["release k"]);
  });

  it("of a key that is not free is nothing to give back", async () => {
    const late = Promise.withResolvers<Claiming>();
    await expect(store({ claiming: late.promise }).claim(request)).rejects.toMatchObject({ kind: "unavailable" });
    late.resolve({ kind: "answered", answer });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(written).toEqual([]);
  });

  it("that fails has failed", async () => {
    const claiming = Promise.reject<Claiming>(new Error("no"));
    await expect(store({ claiming }).claim(request)).rejects.toThrow("no");
    expect(written).toEqual([]);
  });
});

describe("what cannot be written", () => {
  it("is retried without a wait of the request", async () => {
    const answers = store({ failures: 3 });
    await answers.keep(claim, answer);
    expect(written).toEqual([]);
    await expect.poll(() => written).toEqual(["keep k 201"]);
    expect(logged).toEqual([]);
  });

  it("is given up in the end, with a line in the log", async () => {
    await store({ failures: 4 }).release(claim);
    await expect.poll(() => logged).toEqual([expect.stringContaining("could not be ended")]);
    expect(written).toEqual([]);
  });
});
