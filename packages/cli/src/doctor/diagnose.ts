import { type Clock, systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import type { Examination } from "@tessera/kit/service/examination";
import { type Finding, Skip, skipped } from "@tessera/kit/service/finding";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { explainFailure } from "../command/explain-failure.ts";
import { hideSecrets, secretsOf } from "../command/hide-secrets.ts";
import { examineConfiguration, settingsOf } from "../configuration/examine-configuration.ts";
import { lookAround, type Question, type Service, type Surroundings } from "../configuration/surroundings.ts";
import { examineAccount, pairAccounts } from "./examine-accounts.ts";
import { examineBus } from "./examine-bus.ts";
import { examineDatabase, examineSchema } from "./examine-database.ts";
import { examineCertificates, examineClock, examineProcesses } from "./examine-processes.ts";
import { examineDevices, examineFacts, examineOperatorKey, examineRecords, examineWork } from "./examine-services.ts";
import { examineCache, examineDataFolder, examineFiles, withFiles } from "./examine-stores.ts";

type Findings = ReturnType<Examination["examine"]>;

/** A finding and the part that it is about. */
export interface PlacedFinding extends Finding {
  readonly area: string;
}

/** Examines everything at the same time and returns the findings, part by part. */
export async function diagnose(
  question: Question,
  { limitMs, clock = systemClock }: { limitMs: number; clock?: Clock },
): Promise<PlacedFinding[]> {
  const around = await lookAround(question, { clock });
  const settings = Object.values(settingsOf(around.definitions));
  const secretNames = settings.flatMap(({ name, takes }) => (takes === "a secret" ? [name] : []));
  const secrets = secretsOf(question.environment, [...secretNames, "TESSERA_OPERATOR_KEY"]);
  const { unreadable } = around;
  try {
    return await runExaminations(examinationsOf(around, { limitMs }), { limitMs, secrets, unreadable });
  } finally {
    // A frozen server keeps its connections open, so this may take long.
    void around.database.close();
  }
}

/** All examinations, in the order in which findings are printed. */
function examinationsOf(around: Surroundings, limits: { readonly limitMs: number }): Examination<AbortSignal>[] {
  const { database, definitions, environment, log } = around;
  type Look<T> = (around: Surroundings, on: T) => Findings;
  const once = (area: string, look: Look<AbortSignal>, settings?: RegExp): Examination<AbortSignal> => ({
    ...{ area, settings, subject: `the ${area}` },
    examine: (signal) => look(around, signal),
  });
  /** An examination per service, or of the gateway if it is examined. */
  const of = (which: "every" | "gateway", area: string, subject: string, look: Look<Service>) =>
    definitions
      .filter(({ name }) => which === "every" || which === name)
      .map((service) => ({
        ...{ area, subject: which === "every" ? `${subject} of ${service.name}` : subject },
        examine: () => look(around, service),
      }));
  /** What a service itself names. */
  const named = (service: Service) =>
    (service.examinations ?? []).map(({ examine, ...each }) => ({
      ...each,
      examine: () =>
        examine({
          ...{ environment, log, db: () => database.as(service) },
          withFiles: (work) => withFiles(around, work),
        }),
    }));
  return [
    once("configuration", examineConfiguration),
    ...of("gateway", "configuration", "the operator key", examineOperatorKey),
    once("database", () => examineDatabase(around)),
    once("database", () => examineDataFolder(around)),
    ...of("every", "schemas", "the schema", examineSchema),
    once("clock", examineClock),
    once("bus", examineBus, /^(?:BUS$|KAFKA_)/),
    ...of("every", "facts", "the facts", examineFacts),
    ...of("every", "work", "the work", examineWork),
    ...of("gateway", "records", "the warnings about records", examineRecords),
    ...of("gateway", "devices", "the devices of gates", examineDevices),
    ...pairAccounts(definitions).map((pair) => ({
      ...{ area: "accounts", subject: pair.account.name },
      examine: () => examineAccount(around, pair, limits),
    })),
    once("cache", examineCache, /^(?:CACHE$|REDIS_)/),
    once("files", examineFiles, /^(?:FILES|S3_)/),
    ...definitions.flatMap(named),
    once("certificates", examineCertificates, /^GRPC_/),
    once("processes", examineProcesses),
  ];
}

interface Limits {
  readonly limitMs: number;
  readonly secrets: readonly string[];
  readonly unreadable: readonly string[];
}

/** Runs examinations at the same time. One that hangs is abandoned; one that throws becomes a finding. */
export async function runExaminations(
  examinations: readonly Examination<AbortSignal>[],
  { limitMs, secrets, unreadable }: Limits,
): Promise<PlacedFinding[]> {
  const found = examinations.map(async ({ area, subject, settings, failure, examine }) => {
    const abort = new AbortController();
    const late = () => new Error(`no end within ${limitMs / 1000} seconds`);
    const run = async () => {
      if (unreadable.some((name) => settings?.test(name))) throw new Skip("its settings cannot be read");
      return examine(abort.signal);
    };
    const stopped = { what: `the examination of ${subject} was not completed` };
    const end =
      (meaning: Failure = stopped) =>
      (error: unknown) => [describeEnd(error, subject, meaning)];
    const findings = await waitAtMost(limitMs, run().catch(end(failure)), late).catch(end());
    abort.abort();
    return findings.map((finding) => hideSecrets({ ...finding, area }, secrets));
  });
  return (await Promise.all(found)).flat();
}

type Failure = NonNullable<Examination["failure"]>;

function describeEnd(error: unknown, subject: string, meaning: Failure): Finding {
  if (error instanceof Skip) return skipped(subject, error.message);
  // The examination of the configuration reports these.
  if (error instanceof Fault && error.code === "configuration_invalid")
    return skipped(subject, "its settings are refused");
  return explainFailure(error, meaning);
}
