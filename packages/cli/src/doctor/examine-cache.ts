import { redisAccess } from "../open-engines.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, ok, only, Skip, warning, wrong } from "./finding.ts";
import { endpointOf } from "./hide-secrets.ts";
import type { Surroundings } from "./surroundings.ts";

const independent = "the platform works without it; until it is back, each process counts limits for itself";

/** Examines the cache, which no answer depends on. */
export async function examineCache({ config }: Pick<Surroundings, "config">): Promise<Finding[]> {
  if (config.cache === "memory") return [ok("each process has a cache of its own (CACHE=memory)")];
  const url = config.redisUrl?.reveal() ?? "";
  if (!isRedisUrl(url)) throw new Skip("REDIS_URL cannot be read");
  const endpoint = endpointOf(url);
  const access = redisAccess(config);
  // Loaded on use: a service that starts looks at its configuration, and may need no client.
  const { inspectRedis } = await import("@tessera/engines/redis");
  try {
    const answer = await inspectRedis(access);
    if (typeof answer === "string") return judgeRedis(answer, endpoint);
    const mend = /^(?:NOAUTH|WRONGPASS|ERR)$/.test(answer.refusal)
      ? "correct user and password in REDIS_URL"
      : "look at that server's log and access rules";
    return [wrong(`Redis at ${endpoint} refuses what it is asked (${answer.refusal})`, { why: independent, mend })];
  } catch (error) {
    const mend = "start it, or correct REDIS_URL";
    const what = `Redis at ${endpoint} cannot be used`;
    const finding = explainFailure(error, { what, level: "warning", mend, trust: "REDIS_TLS_CA" });
    return [{ ...finding, why: `${finding.why}; ${independent}` }];
  }
}

/** Whether this is an address of Redis. */
export function isRedisUrl(url: string): boolean {
  return /^rediss?:\/\/./.test(url) && URL.canParse(url);
}

/** Judges what Redis or Valkey reports about itself: the answer to INFO. */
export function judgeRedis(information: string, endpoint: string): Finding[] {
  const read = (field: string) => new RegExp(`^${field}:(.*?)\r?$`, "m").exec(information)?.[1] ?? "";
  const valkey = read("valkey_version");
  const [name, version] = valkey === "" ? ["Redis", read("redis_version")] : ["Valkey", valkey];
  return [
    ok(`${name} ${version} at ${endpoint} answers`),
    ...only([
      name === "Redis" &&
        Number.parseInt(version, 10) < 7 &&
        warning(`Redis ${version} is older than the versions that are tested`, { mend: "use Redis 7 or newer" }),
      read("role") === "slave" &&
        wrong(`this ${name} is a replica`, { why: "it accepts no writes", mend: "set REDIS_URL to the primary" }),
      Number(read("maxmemory")) > 0 &&
        read("maxmemory_policy") === "noeviction" &&
        warning(`${name} refuses writes when its memory is full (maxmemory-policy noeviction)`, {
          why: "each process would then count limits for itself",
          mend: "set maxmemory-policy to volatile-ttl",
        }),
    ]),
  ];
}
