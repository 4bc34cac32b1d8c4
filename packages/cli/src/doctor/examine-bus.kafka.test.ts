import { randomUUID } from "node:crypto";
import { systemClock } from "@tessera/kit/clock";
import { readConfig } from "@tessera/kit/config/config";
import { createLog } from "@tessera/kit/telemetry/log";
import { catalogue, topics } from "@tessera/protos/topics";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { expect, it } from "vitest";
import { engineSettings } from "../configuration/engine-settings.ts";
import { lookAround } from "../configuration/surroundings.ts";
import { openBus } from "../serve/open-engines.ts";
import { applyCatalogue } from "../topics/catalogue.ts";
import { examineBus } from "./examine-bus.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

const environment = {
  BUS: "kafka",
  KAFKA_BROKERS: kafkaOfThisRun(),
  KAFKA_TOPIC_PREFIX: `${randomUUID()}.`,
};

async function examine({ aheadMs = 0 } = {}): Promise<string[]> {
  const clock = { now: () => systemClock.now() + aheadMs * 1000 };
  const question = {
    names: ["all"],
    environment,
    data: "/nonexistent",

    health: [],
  };
  const around = await lookAround(question, { clock });
  try {
    return (await examineBus(around)).map(({ level, what }) => `${level}: ${what}`);
  } finally {
    await around.database.close();
  }
}

it("the bus is examined for topics that are missing, and for groups that are late", async () => {
  const reachable = `ok: the cluster of ${environment.KAFKA_BROKERS} answers: 1 broker`;
  const before = await examine();
  expect(before.filter((text) => text.startsWith("wrong"))).toEqual(
    catalogue.map(({ name }) => `wrong: there is no topic ${name}`),
  );

  await applyCatalogue(environment);
  // New partitions have no leaders for a moment.
  await expect.poll(() => examine()).toEqual([reachable, expect.stringMatching(/^ok: no group of \d+ is late$/)]);

  const bus = await openBus(readConfig(engineSettings, environment), { definitions: [], log });
  await bus.publish(topics.credentialChanged.name, [{ key: "k", value: null, headers: {} }]);
  await bus.close();
  // A fact of this moment is on its way; two minutes later it is late.
  expect(await examine()).toEqual([reachable, expect.stringMatching(/^ok: no group of/)]);
  expect(await examine({ aheadMs: 120_000 })).toEqual([
    reachable,
    expect.stringMatching(
      /^wrong: gateway has \d+ facts? of boxoffice\.credential-changed\.v1 still to accept, the oldest for more than a minute$/,
    ),
  ]);
});
