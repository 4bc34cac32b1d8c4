import { createHash } from "node:crypto";
import { shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { untilWaiting } from "@tessera/testkit/until-waiting";
import { beforeEach, describe, expect, it } from "vitest";
import { reportEvents } from "../report-events.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { sample } from "../testing/records.ts";
import { createCredential, revokeCredential } from "./credentials.ts";
import { getDevice, initializeDevice, rollDevice, shareDeviceChanges, updateDevice } from "./devices.ts";

const office = emptyOffice();
const events = reportEvents({
  log: createLog({ service: "test", destination: { write: () => {} } }),
  metrics: createMetrics(),
});
const deviceTurns = shareDeviceChanges();
const deps = () => ({ db: office.db, reads: shareReads(office.db), deviceTurns, events });
const sha256 = (text: string) => createHash("sha256").update(text).digest();
const organizer = "org";

const machine = {
  hardwareBrand: "Samsung",
  hardwareModel: "G525F",
  osName: "Android",
  osVersion: "13",
  softwareBrand: "pretixSCAN Android",
  softwareVersion: "2.3.1",
};
const fields = {
  device: {
    name: "north",
    gate: 1,
    securityProfile: "pretixscan",
    softwareBrand: "",
    allEvents: true,
    events: [],
    revoked: false,
  },
};

const create = async (code: string) => {
  const request = {
    organizer,
    kind: CredentialKind.DEVICE,
    tokenHash: sha256(`first ${code}`),
    setupHash: sha256(code),
    fields,
  };
  const { credential } = await createCredential(request, deps());
  return String(credential?.id);
};
const initialize = async (code: string, token = `token of ${code}`) =>
  (await initializeDevice({ setupHash: sha256(code), tokenHash: sha256(token), machine }, deps())).device;
const published = async () =>
  (await takeFacts(office.db)).flatMap(({ topic, value }) => (topic === "credential-changed" ? [value] : []));

beforeEach(async () => {
  await office.apply(sample.organizer(), sample.event(), sample.gate());
  await takeFacts(office.db);
});

describe("a code", () => {
  it("[E3.1] sets up its device, whose former token is unknown from then on", async () => {
    const id = await create("code-1");
    await takeFacts(office.db);
    const device = await initialize("code-1");
    expect(device).toMatchObject({
      organizer,
      credential: { id, fields: { device: { name: "north" } } },
      gateName: "North",
      machine,
    });
    expect(device?.serial).toMatch(/^[0-9A-F]{16}$/);
    expect(await published()).toMatchObject([
      {
        id,
        tokenHash: sha256("token of code-1"),
        device: { softwareBrand: "pretixSCAN Android", gate: { name: "North" } },
      },
    ]);
    expect(await getDevice({ organizer, id }, deps())).toEqual({ device });
  });

  it.each([
    ["unknown", () => office.db.run(sql`update credential set setup_hash = null`), "not known"],
    ["used", () => initialize("code-2"), "already been used"],
    [
      "expired",
      () => office.db.run(sql`update credential set setup_until_at = now() - interval '1 second'`),
      "expired",
    ],
    ["revoked", (id: string) => revokeCredential({ organizer, kind: CredentialKind.DEVICE, id }, deps()), "revoked"],
  ])("[E3.2] is refused when it is %s, and changes nothing", async (_name, before, why) => {
    await before(await create("code-2"));
    const rows = () => office.db.many(sql`select * from credential order by id`);
    const stored = await rows();
    await expect(initialize("code-2", "other")).rejects.toMatchObject({
      code: "setup_refused",
      fields: { token: [expect.stringContaining(why)] },
    });
    expect(await rows()).toEqual(stored);
  });

  it("[E3.3] sets up one of twenty scanners that send it at once", async () => {
    await create("code-3");
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => initialize("code-3", `t${at}`)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

describe("a device that was set up", () => {
  let id: string;
  beforeEach(async () => {
    id = await create("code");
    await initialize("code");
    await takeFacts(office.db);
  });

  const roll = (token: string, former: string) =>
    rollDevice({ organizer, id, tokenHash: sha256(token), formerHash: sha256(former) }, deps());

  it("[E3.4] tells what it runs on by now, and keeps its number and token", async () => {
    const { device: before } = await getDevice({ organizer, id }, deps());
    const newer = { ...machine, softwareVersion: "3.0.0" };
    const { device: after } = await updateDevice({ organizer, id, machine: newer }, deps());
    expect(after).toMatchObject({ serial: before?.serial, machine: newer });
    expect(await published()).toMatchObject([{ tokenHash: sha256("token of code") }]);
  });

  it("[E3.5] gets another token, and the former one is unknown", async () => {
    await roll("another", "token of code");
    expect(await published()).toMatchObject([{ tokenHash: sha256("another") }]);
  });

  it("[E3.5] gets one of the tokens that it asks for at once with the same token, and a repeated request the same", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => roll(`new ${at}`, "token of code")),
    );
    const done = outcomes.flatMap(({ status }, at) => (status === "fulfilled" ? [`new ${at}`] : []));
    expect(done).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual(
      Array.from({ length: 11 }, () => ({
        status: "rejected",
        reason: expect.objectContaining({ code: "token_replaced" }),
      })),
    );
    const [got = ""] = done;
    await roll(got, "token of code");
    expect((await published()).at(-1)).toMatchObject({ tokenHash: sha256(got) });
  });

  it("[E3.6] keeps its token and what it runs when its record comes again without them", async () => {
    const bring = (rest: object) => sample.device({ device_id: 7, token: null, name: "north", ...rest });
    await office.apply(bring({}));
    await office.db.run(sql`update credential set setup_hash = ${sha256("of record")} where id = '7'`);
    await initialize("of record");
    await takeFacts(office.db);
    await office.apply(bring({}));
    expect(await published()).toEqual([]);
    await office.apply(bring({ name: "south" }));
    expect(await published()).toMatchObject([
      {
        id: "7",
        name: "south",
        tokenHash: sha256("token of of record"),
        device: { softwareBrand: "pretixSCAN Android" },
      },
    ]);
    await office.apply(bring({ token: "a-token-of-the-shop" }));
    expect(await published()).toMatchObject([{ tokenHash: sha256("a-token-of-the-shop") }]);
  });

  it("[E3.7] belongs to its organizer alone", async () => {
    for (const ask of [
      () => getDevice({ organizer: "other", id }, deps()),
      () => updateDevice({ organizer: "other", id, machine }, deps()),
      () => rollDevice({ organizer: "other", id, tokenHash: sha256("x"), formerHash: sha256("token of code") }, deps()),
    ])
      await expect(ask()).rejects.toMatchObject({ code: "device_not_found" });
  });
});

describe("many changes of the devices of one organizer", () => {
  it("[E3.4] that say the same as before write nothing", async () => {
    const id = await create("code-9");
    await initialize("code-9");
    await takeFacts(office.db);
    const rows = () => office.db.many(sql`select * from credential`);
    const before = await rows();
    const update = (changes: object) => updateDevice({ organizer, id, machine: { ...machine, ...changes } }, deps());
    expect((await update({})).device?.machine).toEqual(machine);
    expect([await rows(), await published()]).toEqual([before, []]);
    await update({ softwareVersion: "2.4.0" });
    expect(await published()).toMatchObject([{ id }]);
  });

  it("[S4.40] wait for each other, and leave the records of others alone", async () => {
    const id = await create("code-9");
    await initialize("code-9");
    await office.apply({ ...sample.organizer({ slug: "other" }), organizer: "other" });
    const request = {
      ...{ organizer: "other", kind: CredentialKind.DEVICE, tokenHash: sha256("o"), setupHash: sha256("os") },
      fields: { device: { ...fields.device, gate: undefined } },
    };
    const locked = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const holding = office.db.transaction(async (tx) => {
      await takeLocks(tx, locksOf([{ organizer, event: "" }]));
      locked.resolve();
      await end.promise;
    });
    await locked.promise;
    const updates = Array.from({ length: 100 }, (_, index) =>
      updateDevice({ organizer, id, machine: { ...machine, osVersion: `${index}` } }, deps()).then(
        () => "done",
        ({ code }: { code: string }) => code,
      ),
    );
    try {
      await untilWaiting(office.db);
      await createCredential(request, deps());
      await initializeDevice({ setupHash: sha256("os"), tokenHash: sha256("new"), machine }, deps());
    } finally {
      end.resolve();
      await holding;
    }
    expect(new Set(await Promise.all(updates))).toEqual(new Set(["done"]));
  });
});
