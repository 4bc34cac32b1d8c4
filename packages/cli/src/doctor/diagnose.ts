import { type Clock, systemClock } from "@tessera/kit/clock";
import { examineAccount, pairAccounts } from "./examine-accounts.ts";
import { examineBackgrounds } from "./examine-backgrounds.ts";
import { examineBus } from "./examine-bus.ts";
import { examineCache } from "./examine-cache.ts";
import { examineCertificates } from "./examine-certificates.ts";
import { examineClock } from "./examine-clock.ts";
import { examineConfiguration, settingsOf } from "./examine-configuration.ts";
import { examineDatabase } from "./examine-database.ts";
import { examineFacts } from "./examine-facts.ts";
import { examineFiles } from "./examine-files.ts";
import { examinePrinting } from "./examine-printing.ts";
import { examineProcesses } from "./examine-processes.ts";
import { examineRecords } from "./examine-records.ts";
import { examineRetention } from "./examine-retention.ts";
import { examineSchema } from "./examine-schema.ts";
import { examineWork } from "./examine-work.ts";
import type { Examination, PlacedFinding } from "./finding.ts";
import { secretsOf } from "./hide-secrets.ts";
import { runExaminations } from "./run-examinations.ts";
import { lookAround, type Question, type Surroundings } from "./surroundings.ts";

/** Examines everything at the same time and returns the findings, part by part. */
export async function diagnose(
  question: Question,
  { limitMs, clock = systemClock }: { limitMs: number; clock?: Clock },
): Promise<PlacedFinding[]> {
  const around = await lookAround(question, { clock });
  const secretNames = Object.values(settingsOf(around.definitions)).flatMap(({ name, takes }) =>
    takes === "a secret" ? [name] : [],
  );
  const secrets = secretsOf(question.environment, [...secretNames, "TESSERA_OPERATOR_KEY"]);
  try {
    return await runExaminations(examinationsOf(around, { limitMs }), {
      limitMs,
      secrets,
      unreadable: around.unreadable,
    });
  } finally {
    // A frozen server keeps its connections open, so this may take long.
    void around.database.close();
  }
}

function examinationsOf(around: Surroundings, limits: { readonly limitMs: number }): Examination[] {
  const ofEach = (area: string, subject: string, examine: typeof examineSchema): Examination[] =>
    around.definitions.map((service) => ({
      area,
      subject: `${subject} of ${service.name}`,
      examine: () => examine(around, service),
    }));
  return [
    { area: "configuration", subject: "the configuration", examine: () => examineConfiguration(around) },
    { area: "database", subject: "the database", examine: () => examineDatabase(around) },
    ...ofEach("schemas", "the schema", examineSchema),
    { area: "clock", subject: "the clock", examine: (signal) => examineClock(around, signal) },
    { area: "bus", subject: "the bus", settings: /^(?:BUS$|KAFKA_)/, examine: () => examineBus(around) },
    ...ofEach("facts", "the facts", examineFacts),
    ...ofEach("work", "the work", examineWork),
    ...around.definitions.flatMap((service): Examination[] =>
      service.name === "gateway"
        ? [{ area: "records", subject: "the warnings about records", examine: () => examineRecords(around, service) }]
        : [],
    ),
    ...around.definitions.flatMap((service): Examination[] =>
      service.name === "shredder"
        ? [{ area: "retention", subject: "the retention of data", examine: () => examineRetention(around, service) }]
        : [],
    ),
    ...pairAccounts(around.definitions).map((pair) => ({
      area: "accounts",
      subject: pair.account.name,
      examine: () => examineAccount(around, pair, limits),
    })),
    { area: "cache", subject: "the cache", settings: /^(?:CACHE$|REDIS_)/, examine: () => examineCache(around) },
    { area: "files", subject: "the files", settings: /^(?:FILES|S3_)/, examine: () => examineFiles(around) },
    ...around.definitions.flatMap((service): Examination[] =>
      service.name === "layout-and-render"
        ? [
            {
              area: "files",
              subject: "the backgrounds of layouts",
              settings: /^(?:FILES|S3_)/,
              examine: () => examineBackgrounds(around, service),
            },
            { area: "printing", subject: "the browser for tickets", examine: () => examinePrinting(around) },
          ]
        : [],
    ),
    {
      area: "certificates",
      subject: "the certificates",
      settings: /^GRPC_/,
      examine: () => examineCertificates(around),
    },
    { area: "processes", subject: "the processes", examine: (signal) => examineProcesses(around, signal) },
  ];
}
