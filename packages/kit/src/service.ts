import { type Consumer, limitTransactions, type OpenConsumer } from "./bus/consume.ts";
import type { IsErased } from "./bus/dead-letter.ts";
import type { Rebuild } from "./bus/rebuild-topics.ts";
import type { Cache } from "./cache/cache.ts";
import type { Clock } from "./clock.ts";
import type { Config, Settings } from "./config/config.ts";
import type { Files } from "./files/files.ts";
import type { Job } from "./jobs/interval.ts";
import type { Worker } from "./jobs/work-on.ts";
import type { Db } from "./pg/database.ts";
import type { Reads } from "./pg/reads.ts";
import type { Sql } from "./pg/sql.ts";
import { type Client, connect, type Definition, type Implementation, type Rpcs, type Transport } from "./rpc.ts";
import type { Account } from "./service/account.ts";
import type { Examination } from "./service/examination.ts";
import type { Log } from "./telemetry/log.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { Tracing } from "./telemetry/trace.ts";

/** The clients of a service: each has a name, the service that it calls, and the definition of its RPCs. */
export type ClientMap = Readonly<Record<string, readonly [service: string, definition: Definition]>>;

export type ClientsOf<C extends ClientMap> = { readonly [N in keyof C]: Client<C[N][1]> };

/** What a service gets when it starts. */
export interface Runtime<S extends Settings, C extends ClientMap> {
  readonly config: Config<S>;
  readonly db: Db;
  /** For reads that may be slow: a few read-only connections beside those of `db`, shared by parties. */
  readonly reads: Reads;
  /** For short statements that must not wait: a few connections beside those of `db`, with shorter time limits. */
  readonly urgent: Db;
  readonly cache: Cache;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly isErased: IsErased;
  readonly clients: ClientsOf<C>;
  /** Whether this deployment has a service; it may lack those that are `optional`. */
  isInstalled(service: string): boolean;
}

/** Another server of a service, for instance for HTTP. */
export interface Server {
  readonly name: string;
  /** Resolves when it accepts requests. */
  start(): Promise<void>;
  /** Tells clients with every answer from now on to open another connection, which leads them elsewhere. */
  leave(): void;
  /** Stops accepting requests; those under way go on. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

export interface Started<D> {
  /** What its handlers, consumers and jobs work with. */
  readonly deps: D;
  readonly servers?: readonly Server[];
  /** Called last, after all traffic has ended. */
  close?(): Promise<void>;
}

export type JobOf<D> = (deps: D) => Job;

export type WorkerOf<D> = (deps: D) => Worker;

/** A service: one definition for a process of its own and for many in one. */
export interface ServiceDefinition<S extends Settings = Settings, C extends ClientMap = ClientMap> {
  readonly name: string;
  /** The Postgres schema it owns. */
  readonly schema: string;
  readonly settings: S;
  readonly migrations: URL;
  readonly clients: C;
  readonly needs: readonly string[];
  /** Those of them that a deployment may lack. */
  readonly optional?: readonly string[];
  /** The topics that it consumes; its group is its name. */
  readonly consumes: readonly string[];
  /** How it publishes its data again, for every topic that it owns. */
  readonly rebuilds?: readonly Rebuild[];
  /** What reconciliation compares with another service. */
  readonly accounts?: readonly Account[];
  /** The personal data that it stores, and erases on request. */
  readonly holdings?: readonly { readonly kind: string; readonly name: string }[];
  /** What an operator should know of it, beside what is examined of every service. */
  readonly examinations?: readonly Examination[];
  /** Its part of the tables that the operator's status shows, by their names. */
  readonly shown?: Readonly<Record<string, Sql>>;
  /** Finds the public key of what it signs, as PEM. */
  readonly findPublicKey?: (db: Db) => Promise<string | undefined>;
  open(runtime: Runtime<S, C>): Promise<Parts>;
}

export interface Parts {
  readonly implementations: readonly Implementation[];
  readonly consumers: readonly OpenConsumer[];
  readonly jobs: readonly Job[];
  readonly workers: readonly Worker[];
  readonly servers: readonly Server[];
  close(): Promise<void>;
}

/** The intersection of what all parts work with: each names what it needs. */
type DepsOf<R, K, J> = Intersected<
  | (R extends Rpcs<infer D> ? (deps: D) => void : never)
  | (K extends Consumer<infer D> ? (deps: D) => void : never)
  | (J extends (deps: infer D) => Job | Worker ? (deps: D) => void : never)
>;

type Intersected<F> = [F] extends [(deps: infer D) => void] ? D : never;

/** Declares a service. `start` makes what its handlers, consumers, jobs and workers work with. */
export function defineService<
  S extends Settings,
  const C extends ClientMap,
  R extends Rpcs<never>,
  K extends Consumer<never>,
  J extends JobOf<never>,
  W extends WorkerOf<never> = never,
>({
  rpcs,
  consumers,
  jobs,
  works = [],
  start,
  ...declared
}: Omit<ServiceDefinition<S, C>, "needs" | "consumes" | "open"> & {
  readonly rpcs: readonly R[];
  readonly consumers: readonly K[];
  readonly jobs: readonly J[];
  readonly works?: readonly W[];
  start(runtime: Runtime<S, C>): Promise<Started<DepsOf<R, K, J | W>>>;
}): ServiceDefinition<S, C> {
  return {
    ...declared,
    needs: [...new Set(Object.values(declared.clients).map(([service]) => service))],
    consumes: consumers.map(({ topic }) => topic),
    async open(runtime) {
      const { db, log, tracing, isErased } = runtime;
      const started = await start(runtime);
      const deps = started.deps as never;
      const turns = limitTransactions();
      return {
        implementations: rpcs.map((each) => each.bind(deps)),
        consumers: consumers.map((each) =>
          each.open({ db, group: declared.name, log, tracing, turns, isErased, deps }),
        ),
        jobs: jobs.map((job) => job(deps)),
        workers: works.map((worker) => worker(deps)),
        servers: started.servers ?? [],
        close: async () => started.close?.(),
      };
    },
  };
}

/** Lists who calls a service, by the path of each method: the services with a client of its definition. */
export function callersOf(
  service: string,
  definitions: readonly Pick<ServiceDefinition, "name" | "clients">[],
): ReadonlyMap<string, readonly string[]> {
  const calls = definitions.flatMap(({ name, clients }) =>
    Object.values(clients)
      .filter(([called]) => called === service)
      .flatMap(([, definition]) => Object.values(definition).map(({ path }) => ({ path, name }))),
  );
  const byPath = Map.groupBy(calls, ({ path }) => path);
  return new Map([...byPath].map(([path, found]) => [path, [...new Set(found.map(({ name }) => name))]]));
}

export function connectClients<C extends ClientMap>(
  clients: C,
  transportTo: (service: string) => Transport,
): ClientsOf<C> {
  const connected = Object.entries(clients).map(([name, [service, definition]]) => [
    name,
    connect(definition, transportTo(service)),
  ]);
  return Object.fromEntries(connected) as ClientsOf<C>;
}
