import { type Clock, systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { explainFailure } from "../command/explain-failure.ts";
import { type Finding, Skip, skipped } from "../command/finding.ts";
import { hideSecrets, secretsOf } from "../command/hide-secrets.ts";
import { examineConfiguration, settingsOf } from "../configuration/examine-configuration.ts";
import { lookAround, type Question, type Service, type Surroundings } from "../configuration/surroundings.ts";
import { examineAccount, pairAccounts } from "./examine-accounts.ts";
import { examineBus } from "./examine-bus.ts";
import { examineDatabase, examineSchema } from "./examine-database.ts";
import { examinePrinting } from "./examine-printing.ts";
import { examineCertificates, examineClock, examineProcesses } from "./examine-processes.ts";
import {
  examineDevices,
  examineFacts,
  examineOperatorKey,
  examineRecords,
  examineRetention,
  examineWork,
} from "./examine-services.ts";
import { examineBackgrounds, examineCache, examineDataFolder, examineFiles } from "./examine-stores.ts";

type Findings = readonly Finding[] | Promise<readonly Finding[]>;

/** Examines one part of the platform. */
export interface Examination {
  /** The part, as a heading; examinations of one part are printed together. */
  readonly area: string;
  /** What is examined, for a sentence: `the facts of checkin`. */
  readonly subject: string;
  /** The settings that it uses. If one is unreadable, the examination is skipped. */
  readonly settings?: RegExp | undefined;
  examine(signal: AbortSignal): Findings;
}

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
function examinationsOf(around: Surroundings, limits: { readonly limitMs: number }): Examination[] {
  const { definitions } = around;
  type Look<T> = (around: Surroundings, on: T) => Findings;
  const once = (area: string, look: Look<AbortSignal>, settings?: RegExp): Examination => ({
    ...{ area, settings, subject: `the ${area}` },
    examine: (signal) => look(around, signal),
  });
  /** An examination per service, or of the service with this name if it is examined. */
  const of = (which: string, area: string, subject: string, look: Look<Service>, settings?: RegExp): Examination[] =>
    definitions
      .filter(({ name }) => which === "every" || which === name)
      .map((service) => ({
        ...{ area, settings, subject: which === "every" ? `${subject} of ${service.name}` : subject },
        examine: () => look(around, service),
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
    ...of("shredder", "retention", "the retention of data", examineRetention),
    ...pairAccounts(definitions).map((pair) => ({
      ...{ area: "accounts", subject: pair.account.name },
      examine: () => examineAccount(around, pair, limits),
    })),
    once("cache", examineCache, /^(?:CACHE$|REDIS_)/),
    once("files", examineFiles, /^(?:FILES|S3_)/),
    ...of("layout-and-render", "files", "the backgrounds of layouts", examineBackgrounds, /^(?:FILES|S3_)/),
    ...of("layout-and-render", "printing", "the browser for tickets", examinePrinting),
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
  examinations: readonly Examination[],
  { limitMs, secrets, unreadable }: Limits,
): Promise<PlacedFinding[]> {
  const found = examinations.map(async ({ area, subject, settings, examine }) => {
    const abort = new AbortController();
    const late = () => new Error(`no end within ${limitMs / 1000} seconds`);
    const run = async () => {
      if (unreadable.some((name) => settings?.test(name))) throw new Skip("its settings cannot be read");
      return examine(abort.signal);
    };
    const findings = await waitAtMost(limitMs, run(), late).catch((error: unknown) => [describeEnd(error, subject)]);
    abort.abort();
    return findings.map((finding) => hideSecrets({ ...finding, area }, secrets));
  });
  return (await Promise.all(found)).flat();
}

function describeEnd(error: unknown, subject: string): Finding {
  if (error instanceof Skip) return skipped(subject, error.message);
  // The examination of the configuration reports these.
  if (error instanceof Fault && error.code === "configuration_invalid")
    return skipped(subject, "its settings are refused");
  return explainFailure(error, { what: `the examination of ${subject} was not completed` });
}
