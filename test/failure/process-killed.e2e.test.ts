import { setTimeout as sleep } from "node:timers/promises";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { afterEach, expect, it } from "vitest";
import { keepLedger, openAsAdministrator } from "./fact-ledger.ts";
import { planFestival } from "./festival.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { countOutcomes, recoveryMs, startLoad } from "./load.ts";
import { createPlatform, findLoggedErrors } from "./platform-process.ts";
import { withDice } from "./seeded.ts";
import { verifyFestival } from "./verify-festival.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const kills = 12;

/** A machine with other things to do needs this long to start the command. */
const longestRecoveryMs = 15_000;

it("a platform that is killed again and again loses no answer and repeats no effect", { timeout: 120_000 }, () =>
  withDice(async (dice) => {
    const database = await createEmptyDatabase();
    undo.push(() => database.drop());
    const platform = await createPlatform({ dice, databaseUrl: database.url });
    undo.push(() => platform.remove());
    const db = openAsAdministrator(database.url);
    undo.push(() => db.close());

    let life = platform.start();
    await life.ready;
    await keepLedger(db);
    const festival = planFestival();
    const { baseUrl } = platform;
    await importUntilAnswered({ baseUrl, body: festival.groundwork });
    const load = startLoad({ baseUrls: [baseUrl], festival, dice, connectionsMayBreak: true });

    const recoveries: number[] = [];
    for (let killed = 0; killed < kills; killed += 1) {
      const atBirth = killed > 0 && dice.chance(25);
      if (!atBirth) await life.ready;
      await sleep(dice.below(1500));
      await life.kill();
      life = platform.start();
      if (atBirth) continue;
      await life.ready;
      const { startedAt } = life;
      await expect
        .poll(() => recoveryMs(load.gates.attempts, startedAt), { timeout: longestRecoveryMs, interval: 20 })
        .toBeLessThan(longestRecoveryMs);
      recoveries.push(Math.round(recoveryMs(load.gates.attempts, startedAt)));
    }

    const { attempts, imports, edition, oddities } = await load.finish();
    console.log({
      recoveries,
      outcomes: countOutcomes(attempts),
      imports: imports.map(({ attempts: a, ms }) => [a, Math.round(ms)]),
    });
    expect(oddities).toEqual([]);
    expect(await verifyFestival({ baseUrl, db, festival, edition, attempts })).toEqual([]);
    expect(await findLoggedErrors(platform)).toEqual([]);
    // Otherwise nothing was at stake.
    const outcomes = countOutcomes(attempts);
    for (const kind of ["admitted", "already_redeemed", "unknown"]) expect(outcomes[kind]).toBeGreaterThan(10);
    expect(Math.max(...imports.map((run) => run.attempts))).toBeGreaterThan(1);
  }),
);
