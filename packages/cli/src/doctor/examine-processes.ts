import { askHealth } from "@tessera/engines/grpc/ask-health";
import { type Certificates, watchCertificates } from "@tessera/engines/grpc/certificates";
import type { Readiness } from "@tessera/kit/health";
import { addressSetting, grpcTarget } from "../grpc-addresses.ts";
import { readReadiness } from "../read-readiness.ts";
import { certificateName, tlsFilesOf } from "../secure-calls.ts";
import { ownUrl } from "../served-environment.ts";
import { askHttp } from "./ask-http.ts";
import { judgeSkew } from "./examine-clock.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, ok, only, Skip, skipped, warning, wrong } from "./finding.ts";
import { endpointOf } from "./hide-secrets.ts";
import type { Surroundings } from "./surroundings.ts";

/** A peer on this machine answers in milliseconds, and across a network in tens of them. */
const patienceMs = 3000;

/** Examines the processes with known operations ports, and the peers that the services call. */
export async function examineProcesses(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const { config, environment, health, isWhole, keptOperationsPort = 0, noted } = around;
  const usual = Number(environment["METRICS_PORT"] || (isWhole ? keptOperationsPort : "9090"));
  // Another start may have read other settings than the doctor.
  const port = (noted?.isRunning ? noted.platform.processes[0]?.operationsPort : undefined) ?? usual;
  const findings = await Promise.all([
    ...health.map((url) => askReadiness(url, { around, signal, isExpected: true })),
    // Without --health a process need not run.
    ...(health.length > 0 || !(port > 0)
      ? []
      : [askReadiness(ownUrl(config.metricsHost, port), { around, signal, isExpected: false })]),
    askPeers(around),
  ]);
  if (findings.flat().length === 0) throw new Skip("name operations ports with --health, or set METRICS_PORT");
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
    if (readiness === undefined) {
      const mend = "pass the host and METRICS_PORT of a process with --health, or set another METRICS_PORT";
      return [wrong(`${endpoint} is no operations port of Tessera`, { mend })];
    }
    return [...judgeReadiness(readiness, endpoint), ...only([judgeSkew(`the machine at ${endpoint}`, skewMs)])];
  } catch (error) {
    if (!isExpected) return [judgeSilence(endpoint, around.noted)];
    return [explainFailure(error, { what: `the process at ${endpoint} does not answer` })];
  }
}

/** Judges that no process answers where none need run, unless one hangs or was killed. */
function judgeSilence(endpoint: string, noted: Surroundings["noted"]): Finding {
  if (noted === undefined) return skipped("whether processes are ready", `nothing answers at ${endpoint}`);
  const { pid } = noted.platform;
  if (noted.isRunning)
    return wrong(`process ${pid} of the platform runs and does not answer at ${endpoint}`, {
      why: "it hangs, or this machine leaves it no time",
      mend: "look at its log; if it stays so, end it and start it again: what it has answered is stored",
    });
  return wrong(`the platform is down: process ${pid} has ended without being stopped`, {
    why: "it was killed, or its machine was; their logs say more",
    mend: "start it again: what it has answered is stored",
  });
}

/** Judges what a process reports about itself. */
export function judgeReadiness({ ready, stage, dependencies }: Readiness, endpoint: string): Finding[] {
  if (ready) return [ok(`the process at ${endpoint} is ready`)];
  const missing = Object.entries(dependencies).filter(([, state]) => state !== "ok");
  if (missing.length === 0) {
    const why = stage === "starting" ? "its log says what its start waits for" : "it was asked to stop";
    return [warning(`the process at ${endpoint} is ${stage}`, { why })];
  }
  const mend = "its log says why";
  return missing.map(([name, why]) => wrong(`the process at ${endpoint} is not ready: ${name}`, { why, mend }));
}

async function askPeers({ definitions, environment, isWhole, config, log }: Surroundings): Promise<Finding[]> {
  if (isWhole) return [];
  const names = definitions.map(({ name }) => name);
  const needed = new Set(definitions.flatMap(({ needs }) => needs).filter((peer) => !names.includes(peer)));
  const peers = [...needed].sort().flatMap((peer) => {
    const setting = addressSetting(peer);
    const address = environment[setting] ?? "";
    return address === "" ? [] : [{ peer, setting, address }];
  });
  if (peers.length === 0) return [];
  let certificates: Certificates | undefined;
  try {
    const files = tlsFilesOf(config);
    // Whether it has the right names is examined beside, and what peers say about it here.
    certificates = files && watchCertificates({ files, names: [], log });
  } catch {
    return [skipped("whether peers answer", "the certificate of this process cannot be used")];
  }
  const tlsTo = (peer: string) => certificates && { certificates, name: certificateName(peer, environment) };
  const findings = peers.map(async ({ peer, setting, address }) => {
    try {
      await askHealth({ address: grpcTarget(address), tls: tlsTo(peer), timeoutMs: patienceMs });
      return ok(`${peer} answers at ${address}`);
    } catch (error) {
      const mend = `start ${peer}, or correct ${setting} and the certificates`;
      return explainFailure(error, { what: `${peer} does not answer at ${address}`, mend });
    }
  });
  try {
    return await Promise.all(findings);
  } finally {
    certificates?.close();
  }
}
