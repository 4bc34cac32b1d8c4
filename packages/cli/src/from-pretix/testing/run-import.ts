import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "@tessera/kit/fault";
import { importFromPretix, type PretixImport, type PretixImported } from "../import-from-pretix.ts";
import type { SendRecords, SentAnswer } from "../record-feed.ts";
import { stubOrganizer } from "./stub-event.ts";
import { type Data, type StubPretix, stubToken } from "./stub-pretix.ts";

export interface SentRecord {
  readonly kind: string;
  readonly organizer: string;
  readonly event?: string;
  readonly data: Data;
}

/** A platform that writes down what it gets. */
export interface FakePlatform {
  readonly records: SentRecord[];
  readonly batches: number[];
  /** Why a record is rejected, if it is. */
  reject: (record: SentRecord) => string | undefined;
  /** Called before a batch is taken; what it throws is what the sender gets. */
  onBatch: ((number: number) => Promise<void> | void) | undefined;
  readonly send: SendRecords;
  of(kind: string): Data[];
  forget(): void;
}

export function fakePlatform(): FakePlatform {
  const platform: FakePlatform = {
    records: [],
    batches: [],
    reject: () => undefined,
    onBatch: undefined,
    async send(body) {
      const pieces: Uint8Array[] = [];
      for await (const piece of body) pieces.push(piece);
      const text = Buffer.concat(pieces).toString();
      const records = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as SentRecord);
      await platform.onBatch?.(platform.batches.length + 1);
      platform.batches.push(records.length);
      platform.records.push(...records);
      const errors = records.flatMap((record, index) => {
        const why = platform.reject(record);
        return why === undefined ? [] : [{ line: index + 1, kind: record.kind, errors: { item: [why] } }];
      });
      return {
        records: records.length,
        rejected: errors.length,
        errors,
        settled: true,
        overbooked: [],
        ambiguous_secrets: [],
        warned: 0,
        warnings: [],
      } satisfies SentAnswer;
    },
    of: (kind) => platform.records.filter((record) => record.kind === kind).map(({ data }) => data),
    forget() {
      platform.records.length = 0;
      platform.batches.length = 0;
    },
  };
  return platform;
}

export interface TestImport {
  readonly stateFile: string;
  run(options?: Partial<PretixImport>): Promise<PretixImported>;
  /** The fault that a run ends with. */
  fail(options?: Partial<PretixImport>): Promise<Fault>;
  readState(): Promise<string>;
  remove(): Promise<void>;
}

/** Runs imports from a stub into a fake platform, with a state file of their own. */
export async function prepareImport(stub: StubPretix, platform: FakePlatform): Promise<TestImport> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-from-pretix-"));
  const stateFile = join(directory, "state", "from-pretix.json");
  const run = (options: Partial<PretixImport> = {}) =>
    importFromPretix({
      pretix: stub.url,
      token: stubToken,
      organizer: stubOrganizer,
      events: [],
      since: undefined,
      stateFile,
      full: false,
      platform: "http://platform.example.org",
      send: platform.send,
      progress: { update: () => {}, done: () => {} },
      pace: { firstPauseMs: 5, longestPauseMs: 20, tries: 4 },
      ...options,
    });
  return {
    stateFile,
    run,
    async fail(options) {
      const error = await run(options).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error instanceof Fault) return error;
      throw new Error("the import did not end with a fault", { cause: error });
    },
    readState: () => readFile(stateFile, "utf8"),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
