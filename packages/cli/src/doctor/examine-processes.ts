import type { X509Certificate } from "node:crypto";
import { connect } from "node:net";
import { askHealth } from "@tessera/engines/grpc/ask-health";
import { type Certificates, hasName, watchCertificates } from "@tessera/engines/grpc/certificates";
import { certificatesIn, readTlsFiles } from "@tessera/engines/tls-files";
import { sql } from "@tessera/kit/pg/sql";
import { describeAge, type Finding, ok, only, Skip, skipped, warning, wrong } from "@tessera/kit/service/finding";
import type { Readiness } from "@tessera/kit/service/health";
import { explainFailure } from "../command/explain-failure.ts";
import { endpointOf } from "../command/hide-secrets.ts";
import { ownUrl } from "../configuration/served-environment.ts";
import type { Surroundings } from "../configuration/surroundings.ts";
import { askHttp } from "../local/ask-http.ts";
import { readReadiness } from "../local/read-readiness.ts";
import { addressSetting, grpcTarget } from "../serve/grpc-addresses.ts";
import { certificateName, certificateNameSetting, findOutsideCalls, tlsFilesOf } from "../serve/secure-calls.ts";

/** A peer on this machine answers in milliseconds, across a network in tens of milliseconds. */
const patienceMs = 3000;

/** Leases and validity periods are measured in seconds: less than a second of skew does not matter. */
const [warnedMs, wrongMs] = [1000, 5000];

/** Compares the clock of this machine with the database's. */
export async function examineClock({ clock, database }: Surroundings): Promise<Finding[]> {
  const db = await database.connect().catch(() => undefined);
  if (db === undefined) return [skipped("the database's clock", "no database answers")];
  const asked = clock.now();
  const { now } = await db.one<{ now: number }>(sql`select clock_timestamp() as now`);
  // Measured at the middle of the round trip.
  const skewMs = (now - (asked + clock.now()) / 2) / 1000;
  const near = ok(`the database's clock and this one are ${Math.abs(skewMs).toFixed(0)} ms apart`);
  return [judgeSkew("the database's machine", skewMs) || near];
}

/** Judges the clock skew; false: the clocks agree. */
export function judgeSkew(other: string, skewMs: number | undefined): Finding | false {
  const off = Math.abs(skewMs ?? 0);
  if (skewMs === undefined || off <= warnedMs) return false;
  const judge = off > wrongMs ? wrong : warning;
  const side = skewMs > 0 ? "ahead of" : "behind";
  return judge`the clock of ${other} is ${(off / 1000).toFixed(1)} seconds ${side} the clock of this machine
    scans and validity go by the clock of the database; certificates, sign-ins and the log by that of each machine
    → synchronize both machines by NTP (chronyc tracking, timedatectl)`;
}

/** Examines the processes with known operations ports, and the peers that the services call. */
export async function examineProcesses(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const { config, environment, health, isWhole, isExpected, keptOperationsPort = 0, noted } = around;
  const usual = Number(environment["METRICS_PORT"] || (isWhole ? keptOperationsPort : "9090"));
  // Another start may have read other settings than the doctor.
  const port = (noted?.isRunning ? noted.platform.processes[0]?.operationsPort : undefined) ?? usual;
  const urls = health.length > 0 ? health : port > 0 ? [ownUrl(config.metricsHost, port)] : [];
  const asked = urls.map((url) => askReadiness(url, { around, signal, isNamed: health.length > 0 }));
  const silent =
    urls.length === 0 && isExpected ? [describeAbsence(around, "the folder names no platform that runs")] : [];
  const findings = (await Promise.all([...asked, ...silent, askPeers(around)])).flat();
  if (findings.length === 0) throw new Skip("name operations ports with --health, or set METRICS_PORT");
  return findings;
}

async function askReadiness(
  url: string,
  { around, signal, isNamed }: { around: Surroundings; signal: AbortSignal; isNamed: boolean },
): Promise<Finding[]> {
  const { clock, noted } = around;
  const endpoint = endpointOf(url);
  try {
    const { text, skewMs } = await askHttp(`${url.replace(/\/+$/, "")}/readyz`, { signal, clock });
    const readiness = readReadiness(text);
    if (readiness !== undefined)
      return [...judgeReadiness(readiness, endpoint), ...only([judgeSkew(`the machine at ${endpoint}`, skewMs)])];
    return [
      wrong`${endpoint} is no operations port of Tessera
        → pass the host and METRICS_PORT of a process with --health, or set another METRICS_PORT`,
    ];
  } catch (error) {
    if (isNamed) return [explainFailure(error, { what: `the process at ${endpoint} does not answer` })];
    if (noted === undefined) return describeAbsence(around, `nothing answers at ${endpoint}`);
    const { pid } = noted.platform;
    return [
      noted.isRunning
        ? wrong`process ${pid} of the platform runs and does not answer at ${endpoint}
          it hangs, or this machine leaves it no time
          → look at its log; if it stays so, end it and start it again: what it has answered is stored`
        : wrong`the platform is down: process ${pid} has ended without being stopped
          it was killed, or its machine was; their logs say more
          → start it again: what it has answered is stored`,
      ...(noted.isRunning ? [] : await examineRestPort(around)),
    ];
  }
}

/** Nothing runs: a fault where something has to, and else what keeps a start from its port. */
async function describeAbsence(around: Surroundings, why: string): Promise<Finding[]> {
  const { isExpected, isWhole, unreadableFolder } = around;
  if (isExpected && unreadableFolder !== undefined) throw unreadableFolder;
  const absent = wrong`${isWhole ? "the platform of this folder" : "the process of these services"} does not run
    ${why}
    → start it (systemctl start tessera); if it ends again, its log says why (journalctl -u tessera)`;
  return [isExpected ? absent : skipped("whether processes are ready", why), ...(await examineRestPort(around))];
}

/** Finds another program at the port that the platform would take; asked only where no platform runs. */
async function examineRestPort({ restPort, environment }: Surroundings): Promise<Finding[]> {
  const host = environment["HTTP_HOST"] || "127.0.0.1";
  if (!restPort || !(await isTaken(ownUrl(host, restPort)))) return [];
  return [
    wrong`another program holds port ${restPort}, which is HTTP_PORT
      the platform does not start
      → stop that program (ss -ltnp names it), or set another HTTP_PORT`,
  ];
}

/** Connects only: to bind the port could keep it from a platform that starts at this moment. */
async function isTaken(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80), timeout: patienceMs });
  const answer = Promise.withResolvers<boolean>();
  socket.once("connect", () => answer.resolve(true));
  socket.once("error", () => answer.resolve(false));
  socket.once("timeout", () => answer.resolve(false));
  try {
    return await answer.promise;
  } finally {
    socket.destroy();
  }
}

/** Judges what a process reports about itself. */
export function judgeReadiness({ ready, stage, dependencies }: Readiness, endpoint: string): Finding[] {
  if (ready) return [ok(`the process at ${endpoint} is ready`)];
  const missing = Object.entries(dependencies).filter(([, state]) => state !== "ok");
  const reason = stage === "starting" ? "its log says what its start waits for" : "it was asked to stop";
  if (missing.length === 0)
    return [
      warning`the process at ${endpoint} is ${stage}
        ${reason}`,
    ];
  return missing.map(
    ([name, why]) =>
      wrong`the process at ${endpoint} is not ready: ${name}
        ${why}
        → its log says why`,
  );
}

async function askPeers({ definitions, environment, isWhole, config, log }: Surroundings): Promise<Finding[]> {
  if (isWhole) return [];
  const names = definitions.map(({ name }) => name);
  const needed = new Set(definitions.flatMap(({ needs }) => needs).filter((peer) => !names.includes(peer)));
  const peers = [...needed].sort().filter((peer) => environment[addressSetting(peer)]);
  if (peers.length === 0) return [];
  let certificates: Certificates | undefined;
  try {
    const files = tlsFilesOf(config);
    // Its names are examined separately, and peers report on it here.
    certificates = files && watchCertificates({ files, names: [], log });
  } catch {
    return [skipped("whether peers answer", "the certificate of this process cannot be used")];
  }
  const findings = peers.map(async (peer) => {
    const setting = addressSetting(peer);
    const address = environment[setting] ?? "";
    const tls = certificates && { certificates, name: certificateName(peer, environment) };
    try {
      await askHealth({ address: grpcTarget(address), tls, timeoutMs: patienceMs });
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

/** Examines how calls between processes are protected: the certificate, its names, and how long it is valid. */
export function examineCertificates(around: Surroundings): Finding[] {
  const { config, definitions, environment, isWhole, clock } = around;
  const names = definitions.map(({ name }) => name);
  const files = tlsFilesOf(config);
  if (isWhole || files === undefined) {
    const needs = new Set(definitions.flatMap((definition) => definition.needs));
    const peers = [...needs].filter((peer) => !names.includes(peer) && environment[addressSetting(peer)]);
    const outside = isWhole ? [] : findOutsideCalls(config, { names, peers, environment });
    if (outside.length === 0) return [ok("calls between services stay on this machine")];
    return [
      warning`calls leave this machine without TLS: ${outside.join(", ")}
        unless something else checks who calls, everybody who reaches a port of gRPC makes keys and reads tickets
        → set GRPC_TLS_CERT, GRPC_TLS_KEY and GRPC_TLS_CA, and remove GRPC_INSECURE`,
    ];
  }
  const { ca, cert } = readTlsFiles(files);
  if (ca === undefined || cert === undefined) return [];
  const [certificate, ...intermediates] = certificatesIn(cert);
  const problems = only([
    ...names.map((name) => {
      const known = certificateName(name, environment);
      return (
        !hasName(certificate, known) &&
        wrong`the certificate in GRPC_TLS_CERT does not have the DNS name ${known}
          peers know ${name} by it, and refuse this process
          → issue a certificate with it, or set ${certificateNameSetting(name)}`
      );
    }),
    !isIssuedBy(certificate, certificatesIn(ca), intermediates) &&
      wrong`the certificate in GRPC_TLS_CERT is not from an authority in GRPC_TLS_CA
        peers with the same authorities refuse this process
        → add its authority to GRPC_TLS_CA, or intermediate authorities to GRPC_TLS_CERT`,
    ...judgeValidity(certificate, clock.now() / 1000),
  ]);
  return problems.length > 0 ? problems : [ok(`calls use TLS, and the certificate of ${names.join(", ")} is valid`)];
}

/** Judges the validity of a certificate. If renewals work, at least a fifth of its lifetime is left. */
export function judgeValidity(
  { validFromDate, validToDate }: Pick<X509Certificate, "validFromDate" | "validToDate">,
  nowMs: number,
): Finding[] {
  const left = validToDate.getTime() - nowMs;
  const life = validToDate.getTime() - validFromDate.getTime();
  const mend = "renew it; the files are read again while the process runs";
  if (nowMs < validFromDate.getTime())
    return [
      wrong`the certificate in GRPC_TLS_CERT is not valid yet
        it is valid from ${validFromDate.toISOString()}, and here it is ${new Date(nowMs).toISOString()}
        → set the clock of this machine by NTP (chronyc tracking, timedatectl); if it is right, issue the certificate again`,
    ];
  return only([
    left <= 0 &&
      wrong`the certificate in GRPC_TLS_CERT expired ${describeAge(-left / 1000)} ago
        → ${mend}`,
    left > 0 &&
      left < life / 5 &&
      warning`the certificate in GRPC_TLS_CERT expires in ${describeAge(left / 1000)}
        then every peer refuses this process
        → ${mend}`,
  ]);
}

function isIssuedBy(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  intermediates: readonly X509Certificate[],
): boolean {
  const isBy = (issuer: X509Certificate) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  if (authorities.some(isBy)) return true;
  const issuer = intermediates.find(isBy);
  const others = intermediates.filter((each) => each !== issuer);
  return issuer !== undefined && isIssuedBy(issuer, authorities, others);
}
