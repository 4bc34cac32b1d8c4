import { describe, expect, it } from "vitest";
import { emptyOffice, hashOf, revisionOf } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { record, sample } from "../testing/records.ts";

const office = emptyOffice();

describe("tokens", () => {
  const taken = { token: ["This token belongs to another key or device."] };

  it("[R3.8, R3.10] belong to one key or device of all organizers", async () => {
    await office.apply(
      sample.organizer(),
      { ...sample.organizer({ slug: "second" }), organizer: "second" },
      sample.apiKey(),
      sample.device(),
    );
    expect(
      await office.apply(
        { ...sample.apiKey(), organizer: "second" },
        sample.device({ device_id: 2, token: "key-in-clear-text" }),
        sample.device({ device_id: 3, token: "device-in-clear-text" }),
        sample.device({ device_id: 4, token: "another-in-clear-text" }),
        sample.device({ device_id: 5, token: "another-in-clear-text" }),
        sample.device({ device_id: 6, token: null }),
        sample.device({ device_id: 7, token: null }),
      ),
    ).toEqual({ 1: taken, 2: taken, 3: taken, 5: taken });
    expect(await office.count("credential")).toBe(5);
  });

  it("[R3.9] may be replaced, and are free again then", async () => {
    await office.apply(sample.organizer(), sample.device(), sample.device({ token: "new-token-in-clear-text" }));
    expect(await office.apply(sample.device({ device_id: 2 }))).toEqual({});
    expect((await takeFacts(office.db)).map(({ value }) => value?.["tokenHash"])).toEqual(
      ["device-in-clear-text", "new-token-in-clear-text", "device-in-clear-text"].map(hashOf),
    );
  });

  const tokens = { 1: "first-in-clear-text", 2: "second-in-clear-text", 3: "third-in-clear-text" };
  const device = (id: 1 | 2 | 3, token: 1 | 2 | 3 | null, more: object = {}) =>
    sample.device({ device_id: id, token: token === null ? null : tokens[token], ...more });

  it.each([
    ["before", [device(1, 3), device(2, 1)]],
    ["afterwards", [device(2, 1), device(1, 3)]],
    ["for nothing", [device(2, 1), device(1, null)]],
    ["in exchange", [device(2, 1), device(1, 2)]],
    ["to a new one", [device(3, 1), device(1, 3)]],
  ])("[R3.9] may be passed on in one batch: given up %s", async (_name, sent) => {
    await office.apply(sample.organizer(), device(1, 1), device(2, 2));
    await takeFacts(office.db);
    expect(await office.apply(...sent)).toEqual({});
    const hashes = (await takeFacts(office.db)).map(({ value }) => [value?.["id"], value?.["tokenHash"]]);
    const expected = sent.map(({ data }) => {
      const { device_id: id, token } = data as { device_id: number; token: string | null };
      return [String(id), token === null ? undefined : hashOf(token)];
    });
    expect(hashes).toEqual(expected);
  });

  it("[R3.9] are not passed on by a device whose record is rejected", async () => {
    await office.apply(sample.organizer(), device(1, 1), device(2, 2), sample.apiKey({ token: tokens[3] }));
    expect(await office.apply(device(1, 3), device(2, 1), device(3, 2))).toEqual({ 1: taken, 2: taken, 3: taken });
    expect(await office.count("credential")).toBe(3);
  });

  it("[R4.5] are kept to the letter", async () => {
    await office.apply(sample.organizer(), sample.apiKey({ token: "!Signs-and-Case~" }));
    expect((await takeFacts(office.db)).map(({ value }) => value?.["tokenHash"])).toEqual([hashOf("!Signs-and-Case~")]);
  });

  it.each(["a", "fifteen-letters", "blanks in a token", "Schlüssel-für-alle", "sixteen-letters\t"])(
    "[R3.90] are not taken as short or unsendable as %j, and removals may still name them",
    async (token) => {
      await office.apply(sample.organizer());
      const refused = { token: ["A token has at least 16 characters, all of them ASCII and none of them blank."] };
      expect(await office.apply(sample.apiKey({ token }), sample.device({ token }))).toEqual({
        1: refused,
        2: refused,
      });
      expect(await office.apply(record("api_key", { token }, { deleted: true }))).toEqual({});
    },
  );
});

describe("a gate that is renamed", () => {
  it("[R3.5] is renamed in the facts of its devices too", async () => {
    await office.apply(
      sample.organizer(),
      sample.gate(),
      sample.gate({ id: 2 }),
      sample.device({ gate: 1 }),
      sample.device({ device_id: 2, token: null, gate: 2 }),
    );
    const before = await takeFacts(office.db);
    await office.apply(sample.gate({ name: "South" }));
    const [fact, ...rest] = await takeFacts(office.db);
    expect(rest).toEqual([]);
    expect(fact?.value).toMatchObject({
      id: "1",
      name: "",
      tokenHash: hashOf("device-in-clear-text"),
      device: { gate: { id: 1, name: "South" } },
    });
    expect(revisionOf(fact)).toBeGreaterThan(revisionOf(before.at(-1)));
    await office.apply(sample.gate({ name: "South", identifier: "S" }));
    expect(await takeFacts(office.db)).toHaveLength(1);
  });
});
