import type { Consumer } from "./bus/consume.ts";
import type { Rebuild } from "./bus/rebuild-topics.ts";
import type { Cache } from "./cache/cache.ts";
import type { Clock } from "./clock.ts";
import type { Config, Settings } from "./config.ts";
import type { Files } from "./files/files.ts";
import type { Job } from "./jobs/interval.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Db } from "./pg/database.ts";
import type { Client, Definition, Implementation } from "./rpc.ts";
import type { Tracing } from "./trace.ts";

/** What a service is given when it starts. */
export interface Runtime<S extends Settings> {
  readonly config: Config<S>;
  readonly db: Db;
  /** For handlers that only read and may be slow: a few connections apart from those of `db`, on which nothing can be written. */
  readonly reads: Db;
  readonly cache: Cache;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** A client of a peer that the service names in `needs`. */
  peer<D extends Definition>(name: string, definition: D): Client<D>;
}

/** Something else that listens, for instance for HTTP. */
export interface Server {
  readonly name: string;
  /** Resolves when it accepts requests. */
  start(): Promise<void>;
  /** Stops accepting; what is under way goes on. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** What a service consists of. */
export interface Parts {
  readonly grpc?: readonly Implementation[];
  readonly consumers?: readonly Consumer[];
  readonly jobs?: readonly Job[];
  readonly servers?: readonly Server[];
  /** Called last, after all traffic has ended. */
  close?(): Promise<void>;
}

export interface ServiceDefinition<S extends Settings = Settings> {
  readonly name: string;
  /** The Postgres schema it owns. */
  readonly schema: string;
  readonly settings: S;
  readonly migrations: URL;
  /** Peers that it calls. */
  readonly needs: readonly string[];
  /** Topics that it consumes; its group is its name. */
  readonly consumes: readonly string[];
  /** How it publishes again what it holds, for every topic that it owns. */
  readonly rebuilds?: readonly Rebuild[];
  start(runtime: Runtime<S>): Promise<Parts>;
}

/** Declares a service: one definition for a process of its own and for many in one. */
export function defineService<S extends Settings>(definition: ServiceDefinition<S>): ServiceDefinition<S> {
  return definition;
}
