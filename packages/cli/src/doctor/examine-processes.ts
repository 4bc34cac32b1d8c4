import { grpcTransport } from "@tessera/kit/grpc/client";
import type { Readiness } from "@tessera/kit/health";
import { connect } from "@tessera/kit/rpc";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { addressSetting, grpcTarget } from "../network.ts";
import { ownUrl } from "../served-environment.ts";
import { askHttp } from "./ask-http.ts";
import { judgeSkew } from "./examine-clock.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, only, Skip, skipped, warning, well, wrong } from "./finding.ts";
import { endpointOf } from "./hide-secrets.ts";
import type { Surroundings } from "./surroundings.ts";

/** A peer on this machine answers in milliseconds, and across a network in tens of them. */
const patienceMs = 3000;

/** Examines the processes whose operations ports are known, and the peers that they would call. */
export async function examineProcesses(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const { config, environment, health, isWhole } = around;
  const port = Number(environment["METRICS_PORT"] || (isWhole ? "0" : "9090"));
  const findings = await Promise.all([
    ...health.map((url) => askReadiness(url, { around, signal, isExpected: true })),
    // A process that was not named need not run.
    ...(health.length > 0 || !(port > 0)
      ? []
      : [askReadiness(ownUrl(config.metricsHost, port), { around, signal, isExpected: false })]),
    ...askPeers(around),
  ]);
  if (findings.length === 0) throw new Skip("name operations ports with --health, or set METRICS_PORT");
  return findings.flat();
}

async function askReadiness(
  url: string,
  { around, signal, isExpected }: { around: Surroundings; signal: AbortSignal; isExpected: boolean },
): Promise<Finding[]> {
  const endpoint = endpointOf(url);
  try {
    const { text, skewMs } = await askHttp(`${url.replace(/\/+$/, "")}/readyz`, { signal, clock: around.clock });
    const readiness = readReadiness(text);
    if (readiness !== undefined)
      return [...judgeReadiness(readiness, endpoint), ...only([judgeSkew(`the machine at ${endpoint}`, skewMs)])];
    const what = `what answers at ${endpoint} is no operations port of Tessera`;
    return [
      wrong(what, { mend: "name the host and METRICS_PORT of a process with --health, or set another METRICS_PORT" }),
    ];
  } catch (error) {
    if (!isExpected) return [skipped("whether processes are ready", `nothing answers at ${endpoint}`)];
    return [explainFailure(error, { what: `the process at ${endpoint} does not answer` })];
  }
}

/** Reads what `/readyz` answers; undefined where something else has answered. */
function readReadiness(text: string): Readiness | undefined {
  try {
    const page = JSON.parse(text) as Partial<Readiness> | null;
    return typeof page?.ready === "boolean"
      ? { stage: "serving", dependencies: {}, ...page, ready: page.ready }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Judges what a process says of itself. */
export function judgeReadiness({ ready, stage, dependencies }: Readiness, endpoint: string): Finding[] {
  if (ready) return [well(`the process at ${endpoint} is ready`)];
  const missing = Object.entries(dependencies).filter(([, state]) => state !== "ok");
  if (missing.length === 0) {
    const why =
      stage === "starting" ? "its start is not complete; its log says what it waits for" : "it was asked to stop";
    return [warning(`the process at ${endpoint} is ${stage}`, { why })];
  }
  const mend = "its log says why the dependency is away";
  return missing.map(([name, why]) => wrong(`the process at ${endpoint} is not ready: ${name}`, { why, mend }));
}

function askPeers({ definitions, environment, isWhole, log }: Surroundings): Promise<Finding[]>[] {
  if (isWhole) return [];
  const names = definitions.map(({ name }) => name);
  const needed = new Set(definitions.flatMap(({ needs }) => needs).filter((peer) => !names.includes(peer)));
  return [...needed].sort().map(async (peer) => {
    const setting = addressSetting(peer);
    const address = environment[setting] ?? "";
    if (address === "") return [];
    const transport = grpcTransport({ address: grpcTarget(address), log });
    try {
      // Every service can answer this, and nothing depends on it.
      const unknown = { marker: "00000000-0000-0000-0000-000000000000", partitions: [] };
      await connect(FactsServiceService, transport).caughtUp(unknown, { timeoutMs: patienceMs });
      return [well(`${peer} answers at ${address}`)];
    } catch (error) {
      const mend = `start ${peer}, or correct ${setting}`;
      return [explainFailure(error, { what: `${peer} does not answer at ${address}`, mend })];
    } finally {
      await transport.close();
    }
  });
}
