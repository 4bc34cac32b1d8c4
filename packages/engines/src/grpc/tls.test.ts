import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { connect, implement } from "@tessera/kit/rpc";
import { createLog } from "@tessera/kit/telemetry/log";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import {
  type CertificateRequest,
  createAuthority,
  type IssuedCertificate,
  type TestAuthority,
  writeCertificate,
} from "@tessera/testkit/certificates";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { askHealth } from "./ask-health.ts";
import { type Certificates, watchCertificates } from "./certificates.ts";
import { grpcTransport } from "./client.ts";
import { type GrpcServer, serveGrpc } from "./server.ts";

const host = "127.0.0.1";
const { markFacts, caughtUp } = FactsServiceService;

/** Gateways may call both methods, and check-in one of them. */
const callers = new Map([
  [markFacts.path, ["gateway"]],
  [caughtUp.path, ["gateway", "checkin"]],
]);

let ours: TestAuthority;
let other: TestAuthority;
let directory: string;
const cleanUps: (() => unknown)[] = [];

beforeAll(async () => {
  [ours, other] = await Promise.all([createAuthority(), createAuthority("another authority")]);
  directory = await mkdtemp(join(tmpdir(), "tessera-tls-"));
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const lines: { message: string; level: string; [field: string]: unknown }[] = [];
const log = createLog({ service: "test", destination: { write: (line) => void lines.push(JSON.parse(line)) } });

let folders = 0;

/** The certificates of a process, in a folder of its own. */
async function processOf(request: CertificateRequest, { by = ours, trusts = ours } = {}) {
  folders += 1;
  const folder = join(directory, String(folders));
  const place = async (issued: IssuedCertificate, authority = trusts.certificate) =>
    writeCertificate(folder, { ...issued, authority });
  const issued = await by.issue(request);
  const files = await place(issued);
  const certificates = watchCertificates({ files, names: [], log, everyMs: 10 });
  cleanUps.push(() => certificates.close());
  return { certificates, issued, files, place };
}

async function serve(certificates: Certificates, options: { ageMs?: number } = {}): Promise<GrpcServer> {
  const facts = implement(FactsServiceService, {
    markFacts: async () => ({ marker: "here", partitions: [] }),
    caughtUp: async () => ({ caughtUp: true }),
  });
  const server = await serveGrpc({
    host,
    port: 0,
    implementations: [facts],
    log,
    tls: { certificates, callers },
    ...options,
  });
  cleanUps.push(() => server.stop(0));
  return server;
}

function callerOf(port: number, { certificates, name = "boxoffice" }: { certificates: Certificates; name?: string }) {
  const transport = grpcTransport({ address: `ipv4:${host}:${port}`, log, tls: { certificates, name } });
  cleanUps.push(() => transport.close());
  return connect(FactsServiceService, transport);
}

const unknownMarker = { marker: "00000000-0000-0000-0000-000000000000", partitions: [] };

/** Calls as a foreign program, and returns the status. */
async function statusOf(port: number, path: string, credential = credentials.createInsecure()): Promise<string> {
  const client = new Client(`ipv4:${host}:${port}`, credential, { "grpc.ssl_target_name_override": "boxoffice" });
  cleanUps.push(() => client.close());
  const asIs = (bytes: Buffer) => bytes;
  return new Promise((resolve) => {
    const done = (error: ServiceError | null) => resolve(status[error?.code ?? status.OK] ?? "");
    client.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), new Metadata(), { deadline: Date.now() + 5000 }, done);
  });
}

function showing({ certificate, key }: IssuedCertificate) {
  return credentials.createSsl(Buffer.from(ours.certificate), Buffer.from(key), Buffer.from(certificate));
}

const health = "/grpc.health.v1.Health/Check";

describe("a gRPC server with TLS", () => {
  it("[S11.2] answers a method to the services that declare it, and to no other", async () => {
    const server = await serve((await processOf({ names: ["boxoffice"] })).certificates);
    const gateway = callerOf(server.port, await processOf({ names: ["gateway"] }));
    expect(await gateway.markFacts({})).toEqual({ marker: "here", partitions: [] });
    expect(await gateway.caughtUp(unknownMarker)).toEqual({ caughtUp: true });

    const checkin = callerOf(server.port, await processOf({ names: ["checkin"] }));
    expect(await checkin.caughtUp(unknownMarker)).toEqual({ caughtUp: true });
    await expect(checkin.markFacts({})).rejects.toMatchObject({ kind: "unavailable", code: "peer_refuses" });

    const status = async (request: CertificateRequest, { path = markFacts.path, by = ours } = {}) =>
      statusOf(server.port, path, showing(await by.issue(request)));
    expect(await status({ names: ["gateway"] })).toBe("OK");
    for (const names of [["voucher"], ["*"], ["gateway.example"], ["x", "checkin"]])
      expect([names, await status({ names })]).toEqual([names, "PERMISSION_DENIED"]);
    // The subject is not a name.
    expect(await status({ names: ["voucher"], subject: "gateway" })).toBe("PERMISSION_DENIED");
    expect(await status({ names: ["gateway"] }, { by: other })).toBe("UNAUTHENTICATED");
    expect(await status({ names: ["gateway"], until: new Date(Date.now() - 1000) })).toBe("UNAUTHENTICATED");
  });

  it("[S11.2] answers nothing without a certificate, and health checks with any of its authority", async () => {
    const server = await serve((await processOf({ names: ["boxoffice"] })).certificates);
    const nameless = credentials.createSsl(Buffer.from(ours.certificate));
    for (const path of [markFacts.path, health]) {
      expect([path, await statusOf(server.port, path, nameless)]).toEqual([path, "UNAUTHENTICATED"]);
      expect([path, await statusOf(server.port, path)]).toEqual([path, "UNAVAILABLE"]);
    }
    expect(await statusOf(server.port, health, showing(await ours.issue({ names: ["probe"] })))).toBe("OK");
    expect(await statusOf(server.port, health, showing(await other.issue({ names: ["probe"] })))).toBe(
      "UNAUTHENTICATED",
    );
  });

  it("speaks TLS 1.2 and newer", async () => {
    const server = await serve((await processOf({ names: ["boxoffice"] })).certificates);
    const trying = (version: "TLSv1.1" | "TLSv1.2" | "TLSv1.3") =>
      new Promise<string | null>((resolve) => {
        const limits = { minVersion: version, maxVersion: version, ciphers: "ALL:@SECLEVEL=0" };
        const socket: TLSSocket = connectTls(
          { host, port: server.port, ca: ours.certificate, servername: "boxoffice", ALPNProtocols: ["h2"], ...limits },
          () => {
            resolve(socket.getProtocol());
            socket.destroy();
          },
        );
        socket.on("error", ({ message }) => resolve(message));
      });
    expect(await trying("TLSv1.1")).toMatch(/protocol version/);
    expect(await trying("TLSv1.2")).toBe("TLSv1.2");
    expect(await trying("TLSv1.3")).toBe("TLSv1.3");
  });

  it("logs a flood of refused callers in one line", async () => {
    lines.length = 0;
    const server = await serve((await processOf({ names: ["boxoffice"] })).certificates);
    const voucher = showing(await ours.issue({ names: ["voucher"] }));
    for (let calls = 0; calls < 5; calls += 1) await statusOf(server.port, markFacts.path, voucher);
    expect(lines.filter(({ message }) => message === "caller refused")).toEqual([
      expect.objectContaining({ level: "warn", path: markFacts.path, names: "DNS:voucher", refused: 1 }),
    ]);
  });
});

describe("a caller with TLS", () => {
  it("[S11.3] calls a peer only if its certificate has the name of the peer", async () => {
    const caller = await processOf({ names: ["gateway"] });
    const attempt = async (request: CertificateRequest, { by = ours, name = "boxoffice", timeoutMs = 250 } = {}) => {
      const server = await serve((await processOf(request, { by })).certificates);
      const tls = { certificates: caller.certificates, name };
      const call = callerOf(server.port, tls).markFacts({}, { timeoutMs });
      const asked = askHealth({ address: `${host}:${server.port}`, tls, timeoutMs: 3000 });
      return Promise.all([
        call.then(
          () => "answered",
          ({ code }: { code: string }) => code,
        ),
        asked.then(
          () => "answered",
          ({ message }: Error) => message,
        ),
      ]);
    };
    const refused = (reason: RegExp) => ["peer_unavailable", expect.stringMatching(reason)];
    const patient = { timeoutMs: 5000 };
    expect(await attempt({ names: ["boxoffice"] }, patient)).toEqual(["answered", "answered"]);
    const named = { ...patient, name: "box.example" };
    expect(await attempt({ names: ["box.example"] }, named)).toEqual(["answered", "answered"]);
    expect(await attempt({ names: ["checkin"] })).toEqual(
      refused(/^its certificate does not have the name boxoffice$/),
    );
    expect(await attempt({ names: ["*.example"] }, { name: "box.example" })).toEqual(refused(/not have the name/));
    expect(await attempt({ names: ["boxoffice"] }, { by: other })).toEqual(refused(/certificate/));
    const expired = { names: ["boxoffice"], until: new Date(Date.now() - 1000) };
    expect(await attempt(expired)).toEqual(refused(/expired/));
  });
});

describe("certificates", () => {
  it("[S11.4] are exchanged while the server and its callers run", async () => {
    const boxoffice = await processOf({ names: ["boxoffice"] });
    const gateway = await processOf({ names: ["gateway"] });
    const server = await serve(boxoffice.certificates);
    expect(await callerOf(server.port, gateway).markFacts({})).toMatchObject({ marker: "here" });

    const both = `${ours.certificate}\n${other.certificate}`;
    const until = new Date("2041-02-03T04:05:06Z");
    await boxoffice.place(await other.issue({ names: ["boxoffice"], until }), both);
    await expect.poll(() => shownBy(server.port)).toBe("CN=another authority");
    expect(boxoffice.certificates.validity().ends).toEqual(until);
    await gateway.place(await ours.issue({ names: ["gateway"] }), other.certificate);
    await expect
      .poll(() =>
        callerOf(server.port, gateway)
          .markFacts({}, { timeoutMs: 500 })
          .catch(() => undefined),
      )
      .toMatchObject({ marker: "here" });

    // The former authority expires, and with it the caller's certificate.
    await boxoffice.place(await other.issue({ names: ["boxoffice"] }), other.certificate);
    await expect
      .poll(() =>
        callerOf(server.port, gateway)
          .markFacts({})
          .catch(({ code }: { code: string }) => code),
      )
      .toBe("peer_refuses");
    await gateway.place(await other.issue({ names: ["gateway"] }), other.certificate);
    await expect
      .poll(() =>
        callerOf(server.port, gateway)
          .markFacts({})
          .catch(({ code }: { code: string }) => code),
      )
      .toMatchObject({ marker: "here" });
  });

  it("[S11.4] stay as they were while the files cannot be used", async () => {
    lines.length = 0;
    const boxoffice = await processOf({ names: ["boxoffice"] });
    const server = await serve(boxoffice.certificates);
    const reported = () => lines.filter(({ message }) => message === "certificate cannot be exchanged").length;
    const gateway = await processOf({ names: ["gateway"] });
    const before = boxoffice.issued;
    const next = await ours.issue({ names: ["boxoffice"] });
    const breakages = [
      () => boxoffice.place({ ...before, key: next.key }),
      () => boxoffice.place({ ...before, key: "no key" }),
      () => rm(boxoffice.files.certificate),
    ];
    for (const [index, breakFile] of breakages.entries()) {
      await breakFile();
      await expect.poll(reported).toBe(index + 1);
      expect(await callerOf(server.port, gateway).markFacts({})).toMatchObject({ marker: "here" });
    }
    await boxoffice.place(next);
    await expect.poll(() => lines.at(-1)?.message).toBe("certificate exchanged");
    expect(await callerOf(server.port, gateway).markFacts({})).toMatchObject({ marker: "here" });
  });

  it("are refused at the start if they cannot be used", async () => {
    const { files, place } = await processOf({ names: ["boxoffice"] });
    const open =
      (given: Partial<typeof files>, names: readonly string[] = []) =>
      () =>
        watchCertificates({ files: { ...files, ...given }, names, log });
    expect(open({ certificate: "/nonexistent.pem" })).toThrow("/nonexistent.pem cannot be used: ENOENT");
    expect(open({ authority: files.key })).toThrow("holds no certificate");
    expect(open({}, ["checkin"])).toThrow("does not have the DNS name checkin");
    const stranger = await ours.issue({ names: ["boxoffice"] });
    await place({ certificate: stranger.certificate, key: (await ours.issue({ names: ["x"] })).key });
    expect(open({})).toThrow("does not belong to the certificate");
  });
});

/** The issuer of the certificate that a server uses now. */
function shownBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host, port, rejectUnauthorized: false, ALPNProtocols: ["h2"] }, () => {
      resolve(`CN=${socket.getPeerCertificate().issuer.CN}`);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
