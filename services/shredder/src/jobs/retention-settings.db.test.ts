import { sql } from "@tessera/kit/pg/sql";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { describe, expect, it } from "vitest";
import { event, kinds, long, organizer, retainingShredder } from "../testing/retaining-shredder.ts";
import { place } from "../testing/start-shredder.ts";

const shredder = retainingShredder();
const { count, erased, readAgain, set, sweep, turn, untilDue, upcoming } = shredder;

describe("a setting", () => {
  it("[D9.1] is off, until somebody sets it, and then as it was set", async () => {
    expect(await shredder.service.retention.findRetention({ organizer })).toEqual({ retention: undefined });
    shredder.service.peers.events = [{ event, at: long }];
    await sweep();
    expect(await upcoming()).toEqual([]);
    const { retention } = await set({ shredders: ["order_emails", "attendee_info", "order_emails"] });
    expect(retention).toEqual({ days: 90, shredders: kinds, changedAt: expect.any(Number) });
    expect(await shredder.service.retention.findRetention({ organizer })).toEqual({ retention });
    expect(await shredder.service.retention.findRetention({ organizer: "another" })).toEqual({ retention: undefined });
    expect(await set()).toEqual({ retention });
    await shredder.service.retention.endRetention({ organizer });
    await shredder.service.retention.endRetention({ organizer });
    expect(await shredder.service.retention.findRetention({ organizer })).toEqual({ retention: undefined });
  });

  it("[D9.3] that changes announces everything again, and the same one does not", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await set();
    expect(await upcoming()).toEqual([[event, "due"]]);
    await set({ shredders: ["order_emails"] });
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "announced"]], { exports: 0 }]);
  });

  it.each(["ended", "changed"] as const)("[D9.6] that is %s stops what has not been asked of services", async (how) => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    await sweep();
    expect(await upcoming()).toEqual([[event, "erasing"]]);
    if (how === "ended") await shredder.service.retention.endRetention({ organizer });
    else await set({ days: 91 });
    await shredder.service.work();
    expect([shredder.service.peers.closed, await count()]).toEqual([[], { exports: 1, cases: 1, requested: 0 }]);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect([await upcoming(), await erased()]).toEqual([how === "ended" ? [] : [[event, "announced"]], []]);
  });

  it("[D9.6] that is ended does not stop what has been asked of services", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    await turn();
    shredder.service.peers.holders.voucher.erasure = undefined;
    await turn();
    expect(await count()).toMatchObject({ requested: 1 });
    await shredder.service.retention.endRetention({ organizer });
    shredder.service.peers.holders.voucher.erasure = shredder.service.peers.holders.checkin.erasure;
    await shredder.db.run(sql`update work set due_at = now() where work.state = 'waiting'`);
    await shredder.service.work();
    expect(await erased()).toEqual([event]);
    const found = await shredder.db.one<{ id: string; file: string }>(
      sql`select shred_case.id, shred_case.file from shred_case`,
    );
    const { state } = await shredder.service.shredders.findShred({
      ...{ ...place, credential: "retention", case: found.id, file: found.file },
    });
    expect(state).toBe(JobState.SUCCEEDED);
  });

  it.each(["export", "case"] as const)("[D9.6] that is ended while boxoffice is asked begins no %s", async (what) => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    if (what === "case") await turn();
    shredder.service.peers.asking = async () => void (await shredder.service.retention.endRetention({ organizer }));
    await sweep();
    expect(await count()).toEqual({ exports: what === "case" ? 1 : 0, cases: 0, requested: 0 });
  });

  it("[D9.3] that changes while a page is read does not announce that page", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    shredder.service.peers.listing = async () => {
      shredder.service.peers.listing = undefined;
      await set({ days: 3650 });
    };
    await sweep();
    expect(await upcoming()).toEqual([]);
  });
});

describe("the setting of an organizer that was removed", () => {
  const find = async () => (await shredder.service.retention.findRetention({ organizer })).retention;
  const countSettings = async () => (await shredder.db.many(sql`select retention.organizer from retention`)).length;
  const another = () => {
    shredder.service.peers.organizerCreatedAt = 1_700_000_000_000_000;
  };

  it("[D9.14] does not exist for another one that gets its name, and neither do its announcements", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await sweep();
    expect([await find(), await upcoming()]).toEqual([expect.anything(), [[event, "announced"]]]);
    another();
    expect(await upcoming()).toEqual([]);
    expect(await find()).toBeUndefined();
  });

  it.each(["export", "case"] as const)("[D9.14] begins no %s for another one that gets its name", async (what) => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    if (what === "case") await turn();
    another();
    await turn();
    expect(await count()).toEqual({ exports: what === "case" ? 1 : 0, cases: 0, requested: 0 });
    expect(await countSettings()).toBe(0);
  });

  it.each([1_700_000_000_000_000, undefined])(
    "[D9.14] is ended by the next round (another one: %s)",
    async (createdAt) => {
      await set();
      await sweep();
      shredder.service.peers.organizerCreatedAt = createdAt;
      shredder.service.peers.events = [{ event, at: long }];
      await sweep();
      expect(await countSettings()).toBe(1);
      await readAgain();
      await sweep();
      expect([await countSettings(), await upcoming()]).toEqual([0, []]);
    },
  );

  it("[D9.14] is announced again where another organizer sets the same", async () => {
    shredder.service.peers.events = [{ event, at: long }];
    await set();
    await untilDue();
    another();
    await set();
    await turn();
    expect([await upcoming(), await count()]).toMatchObject([[[event, "announced"]], { exports: 0 }]);
  });
});
