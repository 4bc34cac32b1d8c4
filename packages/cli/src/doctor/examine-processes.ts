import type { Readiness } from "@tessera/kit/health";
import { askHttp, askService, readReadiness } from "./ask-tessera.ts";
import { addressSetting } from "./examine-configuration.ts";
import { operationsPlace, ownUrl } from "./examine-ports.ts";
import { type Finding, skipped, well } from "./finding.ts";
import { placeOf } from "./hide-secrets.ts";
import type { Surroundings } from "./surroundings.ts";
import { tellFailure } from "./tell-failure.ts";

/** Examines the processes whose operations ports are known, and the peers that they would call. */
export async function examineProcesses(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const own = operationsPlace(around);
  const named = around.health.map((url) => askReadiness(url, { signal, isExpected: true }));
  // A process that was not named need not run.
  const here =
    around.health.length > 0 || own === undefined
      ? []
      : [askReadiness(ownUrl(own.host, own.port), { signal, isExpected: false })];
  const findings = (await Promise.all([...named, ...here, ...askPeers(around)])).flat();
  if (findings.length > 0) return findings;
  return [skipped("whether processes are ready", "name operations ports with --health, or set METRICS_PORT")];
}

async function askReadiness(
  url: string,
  { signal, isExpected }: { signal: AbortSignal; isExpected: boolean },
): Promise<Finding[]> {
  const place = placeOf(url);
  try {
    const { text } = await askHttp(`${url.replace(/\/+$/, "")}/readyz`, { signal, now: Date.now });
    const readiness = readReadiness(text);
    if (readiness !== undefined) return judgeReadiness(readiness, place);
    return [
      {
        level: isExpected ? "wrong" : "skipped",
        what: `what answers at ${place} is no operations port of Tessera`,
        ...(isExpected ? { mend: "name the host and METRICS_PORT of a process with --health" } : {}),
      },
    ];
  } catch (error) {
    if (!isExpected) return [skipped("whether processes are ready", `nothing answers at ${place}`)];
    return [tellFailure(error, { what: `the process at ${place} does not answer` })];
  }
}

/** Judges what a process says of itself. */
export function judgeReadiness({ ready, stage, dependencies }: Readiness, place: string): Finding[] {
  const missing = Object.entries(dependencies).filter(([, state]) => state !== "ok");
  if (ready) return [well(`the process at ${place} is ready`)];
  if (missing.length === 0) {
    const why =
      stage === "starting" ? "its start is not complete; its log says what it waits for" : "it was told to stop";
    return [{ level: "warning", what: `the process at ${place} is ${stage}`, why }];
  }
  return missing.map(([name, state]) => ({
    level: "wrong",
    what: `the process at ${place} is not ready: ${name}`,
    why: state,
    mend: "its log says why the dependency is away",
  }));
}

function askPeers({ definitions, environment, isWhole, log }: Surroundings): Promise<Finding[]>[] {
  if (isWhole) return [];
  const names = definitions.map(({ name }) => name);
  const needed = new Set(definitions.flatMap(({ needs }) => needs).filter((peer) => !names.includes(peer)));
  return Array.from(needed, async (peer) => {
    const setting = addressSetting(peer);
    const address = environment[setting] ?? "";
    if (address === "") return [];
    try {
      await askService(address, log);
      return [well(`${peer} answers at ${address}`)];
    } catch (error) {
      const mend = `start ${peer}, or correct ${setting}`;
      return [tellFailure(error, { what: `${peer} does not answer at ${address}`, mend })];
    }
  });
}
