import { execFile } from "node:child_process";
import { appendFile, chmod, mkdtemp, rm, statfs, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { diagnose } from "@tessera/cli/doctor/diagnose";
import { migrateAll } from "@tessera/cli/migrate";
import { startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { afterEach, expect, it } from "vitest";
import { longestSilenceMs } from "../failure/availability.ts";
import { startFestivalCluster } from "../failure/festival-cluster.ts";
import { openGates } from "../failure/gates.ts";
import { importUntilAnswered } from "../failure/import-until-answered.ts";
import { countOutcomes, recoveryMs } from "../failure/load.ts";
import { parseLog } from "../failure/platform-process.ts";
import { report, withDice } from "../failure/seeded.ts";

const run = promisify(execFile);

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const diskMegabytes = 1200;
const fullMs = 8000;
/** A database that has stopped for lack of room is started again every five seconds at most. */
const longestRecoveryMs = 20_000;

/** Mounts a small disk; returns why that is impossible. */
async function mountDisk(): Promise<{ readonly disk: string } | { readonly reason: string }> {
  if (process.platform !== "linux") return { reason: "a small disk is mounted on Linux alone" };
  const disk = await mkdtemp(join(tmpdir(), "tessera-disk-"));
  undo.push(() => rm(disk, { recursive: true, force: true }));
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${diskMegabytes}m,mode=755`, "tessera", disk]);
  } catch {
    return { reason: "a small disk cannot be mounted here: it needs root and the right to mount" };
  }
  undo.push(() => run("umount", ["-l", disk]));
  return { disk };
}

/** Takes all room that is left on a disk, again and again while others release some. */
async function fill(disk: string): Promise<{ empty(): Promise<void> }> {
  const ballast = join(disk, "ballast");
  let filling = true;
  const full = Promise.withResolvers<void>();
  const working = (async () => {
    for (; filling; await sleep(50)) {
      const { bavail, bsize } = await statfs(disk);
      if (bavail === 0) full.resolve();
      else await appendFile(ballast, Buffer.alloc(Math.min(bavail * bsize, 64 * 1024 * 1024))).catch(() => {});
    }
  })();
  await full.promise;
  return {
    async empty() {
      filling = false;
      await working;
      await truncate(ballast);
    },
  };
}

/** Uses up the rest of a segment of the log, so many times. */
async function useSegments(db: Db, count: number): Promise<void> {
  for (let used = 0; used < count; used += 1) {
    await db.run(sql`select pg_logical_emit_message(false, 'test', 'something to write')`);
    await db.run(sql`select pg_switch_wal()`);
  }
}

/**
 * Uses up segments of the log until the server crashes for lack of room, which ends every connection. A checkpoint may release
 * some room before, which the server takes sooner than the ballast.
 */
async function crash(db: Db): Promise<void> {
  for (;;) {
    try {
      await useSegments(db, 1);
    } catch (error) {
      if (error instanceof Fault && error.code === "database_unavailable") return;
      if (!(error instanceof Fault && error.code === "database_full")) throw error;
    }
  }
}

/** Lets the server keep segments that it can use again without any room. */
async function makeSegments(db: Db): Promise<void> {
  await useSegments(db, 45);
  await db.run(sql`checkpoint`);
}

it(
  "a full disk of the database: no answered scan is lost, it is reported, and room alone mends it",
  { timeout: 400_000 },
  ({ skip }) =>
    withDice(async (dice) => {
      const mounted = await mountDisk();
      if ("reason" in mounted) return skip(mounted.reason);
      const { disk } = mounted;
      const directory = join(disk, "postgres");
      // Segments of the log that were made before the disk is full are used again. A checkpoint without room crashes the server.
      const settings = { max_wal_size: "640MB", min_wal_size: "640MB", checkpoint_timeout: "1h" };
      const postgres = await startEmbeddedPostgres({ directory, durable: false, settings });
      undo.push(() => postgres.stop());
      await chmod(directory, 0o755);
      await migrateAll({ url: postgres.url, names: ["all"] });
      const logged: string[] = [];
      const cluster = await startFestivalCluster({ databaseUrl: postgres.url, onLine: (line) => logged.push(line) });
      undo.push(() => cluster.remove());
      const { baseUrls, festival, db } = cluster;
      const gates = openGates({ baseUrls, festival, dice, connectionsMayBreak: false });
      undo.push(() => gates.close());
      const { attempts } = gates;
      const measured: Record<string, unknown>[] = [];
      await makeSegments(db);
      for (const how of ["no room for rows", "no room for the log"] as const) {
        await sleep(2000);
        logged.splice(0);
        const filling = await fill(disk);
        undo.push(() => filling.empty().catch(() => {}));
        const from = performance.now();
        // Without room for a new segment the server crashes, and starts again if it has one that it can use.
        if (how === "no room for the log") await crash(db);
        await expect
          .poll(() => attempts.some(({ outcome, endedAt }) => outcome.kind === "unknown" && endedAt > from), {
            timeout: 60_000,
          })
          .toBe(true);
        const noticedAt = performance.now();
        await sleep(fullMs);
        const found = await diagnose(
          { names: ["checkin"], environment: { DATABASE_URL: postgres.url }, data: "/nonexistent", health: [] },
          { limitMs: 20_000 },
        );
        const told = found
          .filter(({ area, level }) => area === "database" && level === "wrong")
          .map(({ what }) => what);
        const codes = new Set(parseLog(logged).map(({ error }) => (error as { code?: string } | undefined)?.code));
        await filling.empty();
        const emptyAt = performance.now();
        await expect
          .poll(() => recoveryMs(attempts, emptyAt), { timeout: longestRecoveryMs, interval: 20 })
          .toBeLessThan(longestRecoveryMs);
        const to = performance.now();
        measured.push({
          how,
          noticedAfterMs: Math.round(noticedAt - from),
          longestSilenceMs: longestSilenceMs(attempts, { from, to }),
          recoveryMs: Math.round(recoveryMs(attempts, emptyAt)),
          told,
          codes: [...codes],
        });
        if (how === "no room for rows") {
          expect(told).toEqual(["the database has no room left on its disk"]);
          expect(codes).toContain("database_full");
        } else {
          expect(told).toEqual([expect.stringMatching(/has no room left on its disk|cannot be used/)]);
          expect(codes.has("database_full") || codes.has("database_unavailable")).toBe(true);
        }
      }
      await sleep(2000);
      await gates.close();
      cluster.attempts.push(...attempts);
      report({ measured, outcomes: countOutcomes(attempts) });
      const edition = festival.edition(dice);
      await importUntilAnswered({ baseUrl: baseUrls[0], body: edition.body });
      expect(gates.oddities).toEqual([]);
      expect(await cluster.verify(edition)).toEqual([]);
      expect(cluster.loggedErrors({ outage: true })).toEqual([]);
    }),
);
