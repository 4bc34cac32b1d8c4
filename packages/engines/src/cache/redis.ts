import { createClient, ErrorReply } from "@redis/client";
import type { Cache } from "@tessera/kit/cache/cache";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import { backoff } from "@tessera/kit/waiting/backoff";
import { pause } from "@tessera/kit/waiting/pause";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import { readTlsFiles } from "../tls-files.ts";
import { type Evaluate, sharedLimiter } from "./limiters.ts";

export interface RedisAccess {
  /** `redis://` or, with TLS, `rediss://`; user, password and database number are part of it. */
  readonly url: string;
  /** A PEM file with the authorities of the server, reread for each connection; by default those of Node. */
  readonly authority?: string | undefined;
}

export interface RedisCacheOptions extends RedisAccess {
  /** The prefix of all keys. Deployments on one server need different prefixes. */
  readonly prefix?: string;
  /** How long a caller waits for an answer, in milliseconds. */
  readonly commandMs?: number;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** Redis answers in a millisecond. A longer answer is a problem, and a request must not wait for it. */
const defaultCommandMs = 75;

/** The time to connect and log in, also between regions and with TLS. */
const connectMs = 3000;

/** Finds a dead connection within seconds, also without traffic. */
const heartbeatMs = 1000;
const lostAfterMs = 2500;

/** Circuit breaker: after so many failures in a row the server gets no commands for `restMs`. One late answer may be an accident. */
const failuresInARow = 3;
const restMs = 5000;

const pauses = { firstMs: 100, longestMs: 2000 };

/** Far more than usual. Bounds the memory while a server is frozen. */
const mostCommands = 10_000;

/**
 * Makes a cache on Redis or Valkey, version 6 or later. It connects in the background, and again when the connection is
 * lost. Until then, and while the server is too slow, limits count within each process alone.
 */
export function redisCache(options: RedisCacheOptions): Cache {
  const { prefix = "tessera:", commandMs = defaultCommandMs, log, metrics } = options;
  const stopping = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    stopping.signal.addEventListener("abort", () => reject(new Error("this cache is closed")));
  });
  stopped.catch(() => {});
  const outage = createOutage(log);
  let link: Client | undefined;
  let failures = 0;
  let restUntil = 0;
  const isUsable = () => link !== undefined && failures < failuresInARow;

  metrics?.gauge("cache_usable", "Whether Redis is asked at the moment.", () => (isUsable() ? 1 : 0));

  /** Rejects at once while the circuit breaker is open, and soon when the server does not answer. */
  const evaluate: Evaluate = async (script, { keys, arguments: values }) => {
    if (link === undefined || !isUsable()) throw new Error("Redis is not asked now");
    try {
      const answer = await within(commandMs, link.eval(script, { keys: [...keys], arguments: [...values] }));
      failures = 0;
      outage.end();
      return answer;
    } catch (error) {
      failures += 1;
      if (failures === failuresInARow) {
        restUntil = performance.now() + restMs;
        outage.begin(error, { isOfCommand: true });
      }
      throw error;
    }
  };

  async function serveLink(client: Client, lost: Promise<Error>): Promise<never> {
    await waitAtMost(
      connectMs,
      Promise.race([client.connect(), stopped]),
      () => new Error(`Redis does not answer within ${connectMs} ms`),
    );
    link = client;
    failures = 0;
    outage.endUnlessOfCommand();
    return await Promise.race([lost.then(fail), watchPulse(client), stopped]);
  }

  /** Rejects when the server does not answer any more. */
  async function watchPulse(client: Client): Promise<never> {
    for (;;) {
      await pause(heartbeatMs, stopping.signal);
      // A closed connection says nothing about the next one.
      if (link !== client) throw new Error("this connection is over");
      const answered = client.ping();
      try {
        await within(commandMs, answered);
        if (performance.now() < restUntil) continue;
        failures = 0;
        outage.endUnlessOfCommand();
      } catch (error) {
        if (link === client) {
          failures = failuresInARow;
          outage.begin(error);
        }
        await waitAtMost(lostAfterMs, answered, () => new Error(`Redis was silent for ${lostAfterMs} ms`));
      }
    }
  }

  async function keepLinked(): Promise<void> {
    for (let failed = 1; !stopping.signal.aborted; failed += 1) {
      let client: Client | undefined;
      try {
        const opened = makeClient(options);
        client = opened;
        await serveLink(opened, new Promise<Error>((resolve) => opened.on("error", resolve)));
      } catch (error) {
        if (link !== undefined) failed = 1;
        if (!stopping.signal.aborted) outage.begin(error);
      } finally {
        link = undefined;
        if (client?.isOpen === true) client.destroy();
      }
      // A random pause, so that not all processes connect at once when a server restarts.
      await pause(backoff(pauses, failed) * (0.5 + Math.random() / 2), stopping.signal);
    }
  }
  const linked = keepLinked();

  return {
    limiter: (limits) => sharedLimiter(limits, { prefix, evaluate }),
    async close() {
      stopping.abort();
      await linked;
    },
  };
}

/** Returns a server's answer to INFO, or the code of its refusal, such as NOAUTH. */
export async function inspectRedis(access: RedisAccess): Promise<string | { readonly refusal: string }> {
  const client = makeClient(access).on("error", () => {});
  try {
    const late = () => new Error(`Redis does not answer within ${connectMs} ms`);
    return await waitAtMost(
      connectMs,
      client.connect().then(() => client.info()),
      late,
    );
  } catch (error) {
    if (error instanceof ErrorReply) return { refusal: error.message.split(" ")[0] ?? "" };
    throw error;
  } finally {
    if (client.isOpen) client.destroy();
  }
}

type Client = ReturnType<typeof makeClient>;

function makeClient({ url, authority }: RedisAccess) {
  return createClient({
    url,
    name: "tessera",
    socket: {
      // `keepLinked` reconnects: the client's own reconnect does not notice a frozen server.
      ...{ connectTimeout: connectMs / 2, reconnectStrategy: false },
      ...(authority === undefined ? {} : { tls: true as const, ...readTlsFiles({ authority }) }),
    },
    disableOfflineQueue: true,
    commandsQueueMaxLength: mostCommands,
    maintNotifications: "disabled",
    disableClientInfo: true,
  });
}

function fail(error: Error): never {
  throw error;
}

/** Waits for an answer, at most this long. An answer that arrived in time counts, even if this process was too busy to read it. */
function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis did not answer within ${ms} ms`));
    // Node runs timers before it reads sockets, and immediates after.
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** Logs one line when Redis cannot be used, and one when it can be used again. */
function createOutage(log: Log) {
  let cause: "command" | "connection" | undefined;
  const end = () => {
    if (cause !== undefined) log.info("Redis can be used again", {});
    cause = undefined;
  };
  return {
    begin(error: unknown, { isOfCommand = false } = {}) {
      if (cause === undefined) log.warn("Redis cannot be used; limits count in each process alone", { error });
      cause = isOfCommand ? "command" : "connection";
    },
    end,
    /** A server that answers pings may still refuse commands, or be too slow for them. So an outage of commands ends with a command. */
    endUnlessOfCommand() {
      if (cause !== "command") end();
    },
  };
}
