import { setTimeout as sleep } from "node:timers/promises";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { afterEach, expect, it } from "vitest";
import { keepLedger, openAsAdministrator } from "./fact-ledger.ts";
import { planFestival } from "./festival.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, measure, recoveryMs, startLoad, untilScanned } from "./load.ts";
import { findOwnDatabase, killPostmaster } from "./mortal-postgres.ts";
import { createPlatform, findLoggedErrors } from "./platform-process.ts";
import { isLong, report, withDice } from "./seeded.ts";
import { verifyFestival } from "./verify-festival.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** How often it is killed during its migrations, and then. */
const [births, kills] = isLong ? [2, 6] : [1, 3];

it("[F1.5, F1.8] a platform that is killed again and again loses no answer, repeats no effect, and tells gates every change", () =>
  withDice(async (dice) => {
    const database = await createEmptyDatabase();
    undo.push(() => database.drop());
    const platform = await createPlatform({ databaseUrl: database.url });
    undo.push(() => platform.remove());
    const db = openAsAdministrator(database.url);
    undo.push(() => db.close());

    // On an empty database, during its migrations.
    for (let born = 0; born < births; born += 1) {
      const stillborn = platform.start();
      await sleep(600 + dice.below(900));
      await stillborn.kill();
    }
    let life = platform.start();
    await life.ready;
    await keepLedger(db);
    const festival = planFestival({ tickets: 300, orders: 300 });
    const { baseUrl } = platform;
    await importUntilAnswered({ baseUrl, body: festival.groundwork });
    const load = startLoad({ baseUrls: [baseUrl], festival, dice, connectionsMayBreak: true, feedReaders: 3 });

    // Otherwise the test proves nothing.
    const isEnough = () => {
      const outcomes = countOutcomes(load.gates.attempts);
      return (
        ["admitted", "already_redeemed", "unknown"].every((kind) => (outcomes[kind] ?? 0) > 10) &&
        (["ended", "cut", "refused"] as const).every((ending) => load.feed.counts[ending] > 5)
      );
    };
    const recoveries: number[] = [];
    for (let killed = 0; killed < kills || !isEnough(); killed += 1) {
      const atBirth = killed > 0 && dice.chance(25);
      if (!atBirth) await life.ready;
      await sleep(dice.below(1400));
      await life.kill();
      life = platform.start();
      if (atBirth) continue;
      await life.ready;
      const { startedAt } = life;
      await untilScanned(load.gates.attempts, startedAt);
      recoveries.push(Math.round(recoveryMs(load.gates.attempts, startedAt)));
    }

    const { attempts, imports, edition, oddities } = await load.finish();
    const { counts: answersOfFeed } = load.feed;
    report({ recoveries, answersOfFeed, ...measure({ attempts, imports }) });
    expect(oddities).toEqual([]);
    expect(await verifyFestival({ baseUrl, db, festival, edition, attempts })).toEqual([]);
    expect(await findLoggedErrors(platform)).toEqual([]);
    expect(isEnough()).toBe(true);
    expect(Math.max(...imports.map((run) => run.attempts))).toBeGreaterThan(1);
    expect(answersOfFeed["begun again"]).toBe(0);
  }));

it("a platform with an embedded database recovers when either of the two is killed", () =>
  withDice(async (dice) => {
    const platform = await createPlatform();
    undo.push(() => platform.remove());
    // While it creates its database.
    const stillborn = platform.start();
    await sleep(500 + dice.below(1000));
    await stillborn.kill();
    let life = platform.start();
    await life.ready;
    const { url, dataDirectory } = await findOwnDatabase(platform);
    const db = openAsAdministrator(url);
    undo.push(() => db.close());
    await keepLedger(db);
    const festival = planFestival({ tickets: 200, orders: 150 });
    const { baseUrl } = platform;
    await importUntilAnswered({ baseUrl, body: festival.groundwork });
    const load = startLoad({ baseUrls: [baseUrl], festival, dice, connectionsMayBreak: true });

    const recoveries: [string, number][] = [];
    // The test above kills the platform alone.
    for (const killed of ["database", "both"] as const) {
      await sleep(300 + dice.below(1000));
      const from = performance.now();
      await killPostmaster(dataDirectory, "SIGKILL");
      if (killed === "both") {
        await life.kill();
        life = platform.start();
        await life.ready;
      }
      await untilScanned(load.gates.attempts, from);
      recoveries.push([killed, Math.round(recoveryMs(load.gates.attempts, from))]);
    }

    const { attempts, imports, edition, oddities } = await load.finish();
    report({ recoveries, ...measure({ attempts, imports }) });
    expect(oddities).toEqual([]);
    expect(await verifyFestival({ baseUrl, db, festival, edition, attempts })).toEqual([]);
    expect(await findLoggedErrors(platform, { outage: true })).toEqual([]);
    await db.close();
    life.signal("SIGTERM");
    expect(await life.ended).toMatchObject({ code: 0, stderr: "" });
  }));
