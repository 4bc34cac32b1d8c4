import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { expect, it } from "vitest";
import { findLocalPlatform, noteLocalPlatform } from "../local/local-platform.ts";
import { nameRelease } from "../version.ts";
import { readEvents } from "./read-status.ts";
import { describeStatus } from "./status.ts";

it("the status names the version and commit that run", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tessera-status-"));
  const url = "http://localhost:8000";
  await noteLocalPlatform(directory, { url, baseUrl: url, processes: [], isKeyInFolder: true });
  const platform = await findLocalPlatform(directory);
  await rm(directory, { recursive: true });
  const text = describeStatus({ platform, processes: [], credentials: [], events: [], lag: [] });
  expect(text).toContain(`Tessera ${nameRelease()} runs in process ${process.pid}.`);
});

it("the status says of a killed platform that it is down", () => {
  const nothing = { processes: [], credentials: [], events: [], lag: [] };
  expect(describeStatus({ ...nothing, platform: undefined, killed: 4711 })).toMatch(
    /^The platform is down: process 4711 has ended without being stopped\./,
  );
  expect(describeStatus({ ...nothing, platform: undefined })).toMatch(/^No platform on this machine/);
});

it("the status shows an event once, with what each service has of it", async () => {
  const place = { organizer: "org", event: "fest" };
  const service = (...rows: readonly object[]) => ({
    ...{ name: "", consumes: [], shown: { events: sql`select` } },
    db: { many: async () => rows } as object as Db,
  });
  const counts = { items: 3, orders: 2, positions: 4 };
  const other = { ...place, event: "next", ...counts };
  const silent = { ...service(), shown: {} };
  const ofCheckin = service({ ...place, lists: 1 }, { ...place, event: "removed", lists: 2 });
  expect(await readEvents([service({ ...place, ...counts }, other), silent, ofCheckin])).toEqual([
    { ...place, ...counts, lists: 1 },
    { ...other, lists: 0 },
  ]);
});
