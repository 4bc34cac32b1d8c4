import { askRedis, RedisRefusal } from "./ask-redis.ts";
import { type Finding, skipped, well } from "./finding.ts";
import { placeOf } from "./hide-secrets.ts";
import type { Surroundings } from "./surroundings.ts";
import { tellFailure } from "./tell-failure.ts";

/** The cache asks nobody who is slower than 75 ms. */
const slowMs = 40;

/** One that has frozen is away, too. */
const patienceMs = 3000;

const independent = "answers do not depend on it: until then limits count in each process alone";

/** Examines what processes tell each other through without needing it. */
export async function examineCache({ config, cannotRead }: Surroundings, ending: AbortSignal): Promise<Finding[]> {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(patienceMs)]);
  if (cannotRead(/^(?:CACHE$|REDIS_)/)) return [skipped("the cache", "its settings cannot be read")];
  if (config.cache === "memory") return [well("each process has a cache of its own (CACHE=memory)")];
  const url = config.redisUrl?.reveal() ?? "";
  if (!/^rediss?:\/\/./.test(url) || !URL.canParse(url)) return [skipped("the cache", "REDIS_URL cannot be read")];
  const place = placeOf(url);
  try {
    const [information = ""] = await askRedis(url, [["INFO"]], { signal });
    const started = performance.now();
    await askRedis(url, [["PING"]], { signal });
    return judgeRedis(readInformation(information), { place, ms: performance.now() - started });
  } catch (error) {
    if (error instanceof RedisRefusal) return [tellRefused(error, place)];
    const mend = "start it, or correct REDIS_URL";
    const finding = tellFailure(error, { what: `Redis at ${place} is away`, level: "warning", mend });
    return [{ ...finding, why: `${finding.why}; ${independent}` }];
  }
}

function tellRefused({ message }: RedisRefusal, place: string): Finding {
  const word = message.split(" ")[0] ?? "";
  const mend = /^(?:NOAUTH|WRONGPASS|ERR)$/.test(word)
    ? "correct user and password in REDIS_URL"
    : "look at that server's log and access rules";
  return { level: "wrong", what: `Redis at ${place} refuses what it is asked (${word})`, why: independent, mend };
}

function readInformation(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split("\r\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
}

/** Judges what Redis or Valkey says of itself. */
export function judgeRedis(
  information: ReadonlyMap<string, string>,
  { place, ms }: { place: string; ms: number },
): Finding[] {
  const read = (name: string) => information.get(name) ?? "";
  const valkey = read("valkey_version");
  const version = valkey === "" ? read("redis_version") : valkey;
  const name = valkey === "" ? "Redis" : "Valkey";
  const findings = [well(`${name} ${version} at ${place} answers within ${ms.toFixed(1)} ms`)];
  if (valkey === "" && Number.parseInt(version, 10) < 7)
    findings.push({
      level: "warning",
      what: `Redis ${version} is older than what is tested`,
      mend: "use Redis 7 or newer",
    });
  if (ms > slowMs) {
    const what = `connecting to ${name} takes ${Math.round(ms)} ms`;
    findings.push({ level: "warning", what, why: "a server that is too slow is not asked", mend: "run it nearby" });
  }
  if (read("role") === "slave") {
    const what = `this ${name} is a replica`;
    findings.push({ level: "wrong", what, why: "it takes no writes", mend: "set REDIS_URL to the primary" });
  }
  if (Number(read("maxmemory")) > 0 && read("maxmemory_policy") === "noeviction") {
    findings.push({
      level: "warning",
      what: `${name} refuses writes when its memory is full (maxmemory-policy noeviction)`,
      why: "limits would then count in each process alone",
      mend: "set maxmemory-policy to volatile-ttl",
    });
  }
  return findings;
}
