import { setTimeout as sleep } from "node:timers/promises";
import { readPdf } from "@tessera/testkit/read-pdf";
import { afterEach, expect, it } from "vitest";
import { openAsAdministrator } from "./fact-ledger.ts";
import { apiKey, planFestival } from "./festival.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { startMortalPostgres } from "./mortal-postgres.ts";
import { createPlatform } from "./platform-process.ts";
import { withDice } from "./seeded.ts";
import { hurry } from "./shred-traffic.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

it("[L50.4] a job whose database is killed, and then its process, is done by the next one, with every ticket once", () =>
  withDice(async (dice) => {
    const postgres = await startMortalPostgres();
    undo.push(() => postgres.remove());
    const platform = await createPlatform({ databaseUrl: postgres.url });
    undo.push(() => platform.remove());
    const life = platform.start();
    await life.ready;
    const db = openAsAdministrator(postgres.url);
    undo.push(() => db.close());
    const festival = planFestival({ tickets: 300, orders: 0 });
    await importUntilAnswered({ baseUrl: platform.baseUrl, body: festival.groundwork });
    const headers = { authorization: `Token ${apiKey}`, "content-type": "application/json" };
    const parts = Array.from({ length: 1000 }, (_, index) => ({
      orderposition: festival.tickets[index % festival.tickets.length]?.position,
    }));
    const started = await fetch(
      `${platform.baseUrl}/api/v1/organizers/bigevents/events/sampleconf/ticketpdfrenderer/render_batch/`,
      { method: "POST", headers, body: JSON.stringify({ parts }) },
    );
    expect(started.status).toBe(202);
    const { download } = (await started.json()) as { readonly download: string };
    const address = `${platform.baseUrl}${new URL(download).pathname}`;
    await sleep(200 + dice.below(1200));
    await postgres.die(dice.below(2) === 0 ? "SIGKILL" : "SIGQUIT");
    await sleep(500);
    await postgres.comeBack();
    await sleep(200 + dice.below(1200));
    await life.kill();
    await platform.start().ready;
    await hurry(db, { ended: ["layout"] });
    const states = new Set<number>();
    await expect
      .poll(
        async () => {
          const answer = await fetch(address, { headers });
          states.add(answer.status);
          return answer.status;
        },
        { timeout: 100_000, interval: 500 },
      )
      .toBe(200);
    expect([...states].filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    const { pages } = await readPdf(Buffer.from(await (await fetch(address, { headers })).arrayBuffer()));
    expect(pages).toHaveLength(1000);
  }));
