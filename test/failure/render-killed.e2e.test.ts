import { setTimeout as sleep } from "node:timers/promises";
import { createEmptyDatabase } from "@tessera/testkit/database";
import { readPdf } from "@tessera/testkit/read-pdf";
import { afterEach, expect, it } from "vitest";
import { apiKey, planFestival } from "./festival.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { createPlatform } from "./platform-process.ts";
import { withDice } from "./seeded.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

it("[L50.4] a job whose process is killed is done by the next one, with every ticket once", { timeout: 150_000 }, () =>
  withDice(async (dice) => {
    const database = await createEmptyDatabase();
    undo.push(() => database.drop());
    const platform = await createPlatform({ dice, databaseUrl: database.url });
    undo.push(() => platform.remove());
    const life = platform.start();
    await life.ready;
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
    await life.kill();
    await platform.start().ready;
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
    expect([...states].filter((status) => status !== 409 && status !== 200)).toEqual([]);
    const { pages } = await readPdf(Buffer.from(await (await fetch(address, { headers })).arrayBuffer()));
    expect(pages).toHaveLength(1000);
  }),
);
