import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveGrpc } from "@tessera/engines/grpc/server";
import { systemClock } from "@tessera/kit/clock";
import type { Environment } from "@tessera/kit/config/config";
import { readConfig } from "@tessera/kit/config/config";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import {
  type CertificateRequest,
  createAuthority,
  type TestAuthority,
  writeCertificate,
} from "@tessera/testkit/certificates";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processSettings } from "../configuration/engine-settings.ts";
import { lookAround, type Surroundings } from "../configuration/surroundings.ts";
import { secureCalls } from "../serve/secure-calls.ts";
import { examineCertificates, examineProcesses, judgeValidity } from "./examine-processes.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let ours: TestAuthority;
let other: TestAuthority;
let directory: string;
beforeAll(async () => {
  [ours, other] = await Promise.all([createAuthority(), createAuthority("another authority")]);
  directory = await mkdtemp(join(tmpdir(), "tessera-doctor-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

let folders = 0;

async function certified(request: CertificateRequest, { by = ours } = {}): Promise<Environment> {
  folders += 1;
  const issued = await by.issue(request);
  const files = await writeCertificate(join(directory, String(folders)), { ...issued, authority: ours.certificate });
  return { GRPC_TLS_CERT: files.certificate, GRPC_TLS_KEY: files.key, GRPC_TLS_CA: files.authority };
}

async function look(environment: Environment, use: (around: Surroundings) => unknown): Promise<string[]> {
  const question = {
    names: ["checkin"],
    environment: { METRICS_PORT: "0", ...environment },
    data: "/nonexistent",
    health: [],
  };
  const around = await lookAround(question, { clock: systemClock });
  try {
    const findings = (await use(around)) as Awaited<ReturnType<typeof examineProcesses>>;
    return findings.map(({ level, what, why }) => [level, what, ...(level === "wrong" && why ? [why] : [])].join(": "));
  } finally {
    await around.database.close();
  }
}

describe("[S11.9] the certificates", () => {
  it("are examined before peers refuse them", async () => {
    const examine = async (environment: Environment) =>
      (await look(environment, examineCertificates)).map((text) => text.split(": ").slice(0, 2).join(": "));
    const soon = (ms: number) => new Date(Date.now() + ms);
    expect(await examine(await certified({ names: ["checkin"] }))).toEqual([
      "ok: calls use TLS, and the certificate of checkin is valid",
    ]);
    expect(await examine(await certified({ names: ["gateway"] }))).toEqual([
      "wrong: the certificate in GRPC_TLS_CERT does not have the DNS name checkin",
    ]);
    const named = { CHECKIN_TLS_NAME: "gate.example", ...(await certified({ names: ["gate.example"] })) };
    expect(await examine(named)).toEqual(["ok: calls use TLS, and the certificate of checkin is valid"]);
    expect(await examine(await certified({ names: ["checkin"] }, { by: other }))).toEqual([
      "wrong: the certificate in GRPC_TLS_CERT is not from an authority in GRPC_TLS_CA",
    ]);
    expect(await examine(await certified({ names: ["checkin"], until: soon(-7_200_500) }))).toEqual([
      "wrong: the certificate in GRPC_TLS_CERT expired 2 hours ago",
    ]);
    expect(await examine(await certified({ names: ["checkin"], until: soon(3_605_000) }))).toEqual([
      "warning: the certificate in GRPC_TLS_CERT expires in 1 hour",
    ]);
    expect(await examine({})).toEqual(["ok: calls between services stay on this machine"]);
    expect(await examine({ GRPC_HOST: "::", BOXOFFICE_ADDRESS: "box:1", GRPC_INSECURE: "allow" })).toEqual([
      "warning: calls leave this machine without TLS",
    ]);
  });

  it("are not valid before their time", () => {
    const life = { validFromDate: new Date(1000), validToDate: new Date(2000) };
    const at = (ms: number) => judgeValidity(life, ms).map(({ level }) => level);
    expect([at(999), at(1000), at(1800), at(1801), at(2000)]).toEqual([["wrong"], [], [], ["warning"], ["wrong"]]);
  });

  it("that a peer refuses are told from a peer that is not there", async () => {
    const own = { ...(await certified({ names: ["boxoffice"] })) };
    const security = await secureCalls(readConfig(processSettings, own), {
      ...{ names: ["boxoffice"], peers: [], environment: own, log, metrics: createMetrics() },
    });
    if (security === undefined) throw new Error("no certificates");
    const tls = { certificates: security.certificates, callers: security.callersOf("boxoffice") };
    const peer = await serveGrpc({ host: "127.0.0.1", port: 0, implementations: [], log, tls });
    const BOXOFFICE_ADDRESS = `127.0.0.1:${peer.port}`;
    const examine = (environment: Environment) =>
      look({ BOXOFFICE_ADDRESS, ...environment }, (around) => examineProcesses(around, AbortSignal.timeout(5000)));
    const silent = `wrong: boxoffice does not answer at ${BOXOFFICE_ADDRESS}`;
    const valid = await certified({ names: ["checkin"] });
    expect(await examine(valid)).toEqual([`ok: boxoffice answers at ${BOXOFFICE_ADDRESS}`]);
    expect(await examine({ ...valid, BOXOFFICE_TLS_NAME: "box.example" })).toEqual([
      `${silent}: its certificate does not have the name box.example`,
    ]);
    expect(await examine(await certified({ names: ["checkin"] }, { by: other }))).toEqual([
      `${silent}: it refuses the certificate of this process: no certificate that is accepted here`,
    ]);
    expect(await examine({})).toEqual([expect.stringContaining(silent)]);
    await peer.stop(0);
    security.certificates.close();
  });
});
