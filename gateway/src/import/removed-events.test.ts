import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeTargets, item, list, stream } from "../testing/import-targets.ts";
import { importMessages, importStream } from "./import-stream.ts";

describe("an event that an import removes and brings again", () => {
  const event = (slug: string, more: object = {}) =>
    JSON.stringify({ kind: "event", organizer: "o", event: slug, data: { slug }, ...more });
  const ofEvent = (kind: string, slug = "e") => JSON.stringify({ kind, organizer: "o", event: slug, data: { id: 7 } });
  const replaced = [event("e", { deleted: true }), event("e")];

  /** Targets in which one service has caught up only at its nth answer, each after twenty seconds. */
  function lateTargets(late: string, { hearsAt = Number.POSITIVE_INFINITY, tookMs = 20_000 } = {}) {
    const { targets, happened } = fakeTargets();
    let asked = 0;
    const caughtUp = (service: string) => async () => {
      if (service !== late) return { caughtUp: true };
      vi.setSystemTime(Date.now() + tookMs);
      return { caughtUp: ++asked >= hearsAt };
    };
    const services = ["boxoffice", "checkin", "voucher", "layout-and-render"];
    return { targets: { ...targets, readers: new Map(services.map((name) => [name, caughtUp(name)])) }, happened };
  }

  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    ["voucher", "voucher", "voucher"],
    ["checkin_list", "checkin", "checkin"],
    ["ticket_layout", "layout-and-render", "layout"],
  ])("[R3.94] sends no %s to an owner that has not heard of the removal", async (kind, owner, name) => {
    const { targets, happened } = lateTargets(owner);
    const lines = [...replaced, ofEvent(kind)];
    const failure = await importStream(stream(lines), targets).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: "ImportFailure",
      cause: { code: "owner_unavailable", kind: "unavailable" },
      summary: { accepted: 2, settled: false },
    });
    const messages = lines.map((line) => Buffer.from(line));
    await expect(importMessages(messages, targets)).rejects.toMatchObject({ code: "owner_unavailable" });
    expect(happened.filter((line) => line.startsWith(name))).toEqual([]);
  });

  it("[R3.94] is heard of even where the import has no time left", async () => {
    const { targets } = lateTargets("voucher", { hearsAt: 4, tookMs: 100 });
    const lines = [...replaced, ofEvent("voucher")];
    expect(await importStream(stream(lines), targets, { settleMs: 0 })).toMatchObject({ accepted: 3 });
  });

  it("delays no records of other events, and none once the owner has heard of it", async () => {
    const never = lateTargets("checkin");
    const ofOthers = [event("f", { deleted: true }), event("e"), list(1)];
    expect(await importStream(stream(ofOthers), never.targets)).toMatchObject({ accepted: 3, settled: false });
    const { targets } = fakeTargets();
    let asked = 0;
    const readers = new Map(targets.readers).set("checkin", async () => {
      vi.setSystemTime(Date.now() + 20_000);
      return { caughtUp: ++asked === 1 };
    });
    const lines = [...replaced, list(1), item(1, { deleted: true }), item(1), list(2)];
    expect(await importStream(stream(lines), { ...targets, readers })).toMatchObject({ accepted: 6, settled: false });
  });
});
