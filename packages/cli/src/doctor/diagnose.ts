import { type Clock, systemClock } from "@tessera/kit/clock";
import { examineBus } from "./examine-bus.ts";
import { examineCache } from "./examine-cache.ts";
import { examineClock } from "./examine-clock.ts";
import { examineConfiguration, settingsOf } from "./examine-configuration.ts";
import { examineDatabase } from "./examine-database.ts";
import { examineFacts } from "./examine-facts.ts";
import { examineFiles } from "./examine-files.ts";
import { examineGateway } from "./examine-gateway.ts";
import { examinePorts } from "./examine-ports.ts";
import { examineProcesses } from "./examine-processes.ts";
import { examineSchema } from "./examine-schemas.ts";
import { examineVersions } from "./examine-versions.ts";
import type { Examination, PlacedFinding } from "./finding.ts";
import { secretsOf } from "./hide-secrets.ts";
import { runExaminations } from "./run-examinations.ts";
import { lookAround, type Question, type Surroundings } from "./surroundings.ts";

/** Examines everything side by side and returns what was found, part by part. */
export async function diagnose(
  question: Question,
  { limitMs, clock = systemClock }: { limitMs: number; clock?: Clock },
): Promise<PlacedFinding[]> {
  const around = await lookAround(question, { clock });
  const secret = Object.values(settingsOf(around.definitions)).filter(({ takes }) => takes === "a secret");
  const names = [...secret.map(({ name }) => name), "TESSERA_OPERATOR_KEY"];
  const secrets = secretsOf(question.environment, names);
  try {
    return await runExaminations(examinationsOf(around), { limitMs, secrets });
  } finally {
    // A frozen server does not let go; whoever asked does not wait for it.
    void around.close();
  }
}

function examinationsOf(around: Surroundings): Examination[] {
  const ofEach = (area: string, examine: typeof examineSchema) =>
    around.definitions.map((service) => ({ area, subject: service.name, examine: () => examine(around, service) }));
  return [
    { area: "configuration", examine: () => examineConfiguration(around) },
    { area: "versions", examine: examineVersions },
    { area: "database", examine: () => examineDatabase(around) },
    ...ofEach("schemas", examineSchema),
    { area: "clock", examine: (signal) => examineClock(around, signal) },
    { area: "bus", examine: () => examineBus(around) },
    ...ofEach("facts", examineFacts),
    { area: "cache", examine: (signal) => examineCache(around, signal) },
    { area: "files", examine: () => examineFiles(around) },
    { area: "ports", examine: (signal) => examinePorts(around, signal) },
    { area: "processes", examine: (signal) => examineProcesses(around, signal) },
    { area: "gateway", examine: (signal) => examineGateway(around, signal) },
  ];
}
