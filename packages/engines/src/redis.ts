import { randomUUID } from "node:crypto";
import { backoff } from "@tessera/kit/backoff";
import type { Cache } from "@tessera/kit/cache/cache";
import { fault } from "@tessera/kit/faults";
import type { Log } from "@tessera/kit/log";
import type { Metrics } from "@tessera/kit/metrics";
import { pause } from "@tessera/kit/pause";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { createClient, ErrorReply } from "redis";
import { createListeners } from "./hints.ts";
import { type Evaluate, sharedLimiter } from "./limiters.ts";
import { createTrust } from "./trust.ts";

export interface RedisCacheOptions {
  /** `redis://` or, with TLS, `rediss://`; user, password and database number are part of it. */
  readonly url: string;
  /** What the names of all keys and channels begin with; deployments that share a server differ in it. */
  readonly prefix?: string;
  /** How long a caller waits for an answer, in milliseconds. */
  readonly commandMs?: number;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** Redis answers in a millisecond; what takes longer than this is trouble, and a request has better things to wait for. */
const defaultCommandMs = 75;

/** Connecting and being greeted, also across regions and with TLS. */
const connectMs = 3000;

/** Tells a connection that is only silent from one that is dead, within seconds and without traffic. */
const heartbeatMs = 1000;
const lostAfterMs = 2500;

const pauses = { firstMs: 100, longestMs: 2000 };

/** Far above what is ever in flight; it bounds what a frozen server can make us hold. */
const mostCommands = 10_000;

/**
 * Makes a cache over Redis or Valkey, from version 6 on. It connects in the
 * background and again whenever the connection is lost. Meanwhile, and while
 * the server is too slow to be of use, each process is on its own: limits count
 * in it alone, and hints reach it alone.
 */
export function redisCache(options: RedisCacheOptions): Cache {
  const { url, prefix = "tessera:", commandMs = defaultCommandMs, log, metrics } = options;
  requireRedisUrl(url);
  const stopping = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    stopping.signal.addEventListener("abort", () => reject(new Error("this cache is closed")));
  });
  stopped.catch(() => {});
  const listeners = createListeners(log);
  const channel = `${prefix}hints`;
  const self = randomUUID();
  const tellOnce = outageTeller(log);
  const trust = createTrust({ onWithdrawn: (error) => tellOnce.down(error) });
  let link: Client | undefined;

  const commands = metrics?.counter("cache_commands", "Commands for Redis, by what became of them.", ["outcome"]);
  metrics?.gauge("cache_usable", "Whether Redis is asked at the moment.", () =>
    link !== undefined && trust.isGiven ? 1 : 0,
  );

  /** Asks the server, or rejects: at once while it is not to be asked, soon when it does not answer. */
  async function ask<T>(command: (client: Client) => Promise<T>): Promise<T> {
    if (link === undefined || !trust.isGiven) {
      commands?.add({ outcome: "skipped" });
      throw new Error("Redis is not asked now");
    }
    try {
      const answer = await within(commandMs, command(link));
      trust.kept();
      tellOnce.up();
      commands?.add({ outcome: "answered" });
      return answer;
    } catch (error) {
      trust.broken(error);
      commands?.add({ outcome: error instanceof ErrorReply ? "refused" : "failed" });
      throw error;
    }
  }

  const evaluate: Evaluate = (script, { keys, arguments: values }) =>
    ask((client) => client.eval(script, { keys: [...keys], arguments: [...values] }));

  async function serveLink(client: Client, lost: Promise<Error>): Promise<never> {
    const greeted = client.connect().then(() =>
      client.subscribe(channel, (message) => {
        const hint = readHint(message);
        // One's own hints have been told here already, whether or not the server took them.
        if (hint !== undefined && hint.from !== self) listeners.notify(hint.channel, hint.text);
      }),
    );
    await waitAtMost(
      connectMs,
      Promise.race([greeted, stopped]),
      () => new Error(`Redis does not answer within ${connectMs} ms`),
    );
    link = client;
    trust.restore();
    if (!tellOnce.isRefusal()) tellOnce.up();
    return await Promise.race([lost.then(fail), watchPulse(client), stopped]);
  }

  /** Ends, by a rejection, when the server does not answer any more. */
  async function watchPulse(client: Client): Promise<never> {
    for (;;) {
      await pause(heartbeatMs, stopping.signal);
      // What becomes of a connection that was given up says nothing about the next one.
      if (link !== client) throw new Error("this connection is over");
      const answered = client.ping();
      try {
        await within(commandMs, answered);
        trust.renew();
        if (trust.isGiven && !tellOnce.isRefusal()) tellOnce.up();
      } catch (error) {
        if (link === client) trust.withdraw(error);
        await waitAtMost(lostAfterMs, answered, () => new Error(`Redis was silent for ${lostAfterMs} ms`));
      }
    }
  }

  async function keepLinked(): Promise<void> {
    for (let failed = 1; !stopping.signal.aborted; failed += 1) {
      const client = makeClient(url);
      const lost = new Promise<Error>((resolve) => client.on("error", resolve));
      try {
        await serveLink(client, lost);
      } catch (error) {
        if (link !== undefined) failed = 1;
        if (!stopping.signal.aborted) tellOnce.down(error);
      } finally {
        link = undefined;
        if (client.isOpen) client.destroy();
      }
      // Not all processes at once, when a server comes back.
      await pause(backoff(pauses, failed) * (0.5 + Math.random() / 2), stopping.signal);
    }
  }
  const linked = keepLinked();

  return {
    hint(name, text) {
      listeners.notify(name, text);
      const message = JSON.stringify([self, name, text]);
      ask((client) => client.publish(channel, message)).catch(() => {});
    },
    onHint: (name, act) => listeners.add(name, act),
    limiter: (limits) => sharedLimiter(limits, { prefix, evaluate }),
    async close() {
      stopping.abort();
      listeners.clear();
      await linked;
    },
  };
}

/** Asks a server what it says of itself: the text that INFO answers, or the code of a refusal, such as NOAUTH. */
export async function inspectRedis(url: string): Promise<string | { readonly refusal: string }> {
  const client = makeClient(url).on("error", () => {});
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

function makeClient(url: string) {
  return createClient({
    url,
    name: "tessera",
    // We reconnect ourselves: only so a server that hangs is given up as well.
    socket: { connectTimeout: connectMs / 2, reconnectStrategy: false },
    disableOfflineQueue: true,
    commandsQueueMaxLength: mostCommands,
    maintNotifications: "disabled",
    disableClientInfo: true,
  });
}

function requireRedisUrl(url: string): void {
  const problem = "the address of Redis must look like redis://host:6379, or rediss:// for TLS";
  let protocol: string;
  try {
    protocol = new URL(url).protocol;
  } catch {
    throw fault("configuration_invalid", problem);
  }
  if (protocol !== "redis:" && protocol !== "rediss:") throw fault("configuration_invalid", problem);
}

function fail(error: Error): never {
  throw error;
}

/** Waits for an answer that long. One that has arrived while this process was busy counts, however late it is looked at. */
function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`Redis did not answer within ${ms} ms`));
    // Timers run before what has arrived is read, immediates after.
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

function readHint(message: string): { from: string; channel: string; text: string } | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [from, channel, text] = parts as unknown[];
  if (typeof from !== "string" || typeof channel !== "string" || typeof text !== "string") return undefined;
  return { from, channel, text };
}

/** Tells the log once that Redis is of no use, and once that it is again. */
function outageTeller(log: Log) {
  let trouble: { readonly error: unknown } | undefined;
  return {
    down(error: unknown) {
      if (trouble === undefined) log.warn("Redis cannot be used; limits count in each process alone", { error });
      trouble = { error };
    },
    up() {
      if (trouble !== undefined) log.info("Redis can be used again", {});
      trouble = undefined;
    },
    /** A server that answers but refuses is well only when it has done what was asked. */
    isRefusal: () => trouble?.error instanceof ErrorReply,
  };
}
