import type { Environment } from "../config/config.ts";
import type { Files } from "../files/files.ts";
import type { Db } from "../pg/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { Finding } from "./finding.ts";

/** What the examination of a service works with. Functions reject with a Skip where there is nothing to examine. */
export interface Examined {
  /** Connects as the role of the service. */
  readonly db: () => Promise<Db>;
  /** Works with the file store. */
  readonly withFiles: <T>(work: (files: Files) => Promise<T>) => Promise<T>;
  readonly environment: Environment;
  readonly log: Log;
}

/** Examines one part of the platform for its operator. */
export interface Examination<T = Examined> {
  /** The part, as a heading; examinations of one part are printed together. */
  readonly area: string;
  /** What is examined, for a sentence: `the facts of checkin`. */
  readonly subject: string;
  /** The settings that it uses. If one is unreadable, the examination is skipped. */
  readonly settings?: RegExp | undefined;
  /** What its failure means, and what to do about it. */
  readonly failure?: { readonly what: string; readonly mend?: string };
  examine(on: T): readonly Finding[] | Promise<readonly Finding[]>;
}
