import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import type { experimental } from "@grpc/grpc-js";
import { fault } from "@tessera/kit/faults";
import type { Log } from "@tessera/kit/telemetry/log";
import { readTlsFiles, type TlsFiles } from "../tls-files.ts";

/** The certificate of a process and the authorities of its peers, as currently in their files. */
export interface Certificates {
  readonly provider: experimental.CertificateProvider;
  /** From when until when the certificate is valid. */
  validity(): Validity;
  close(): void;
}

export interface Validity {
  readonly begins: Date;
  readonly ends: Date;
}

/** Kubernetes takes a minute to exchange a certificate. */
const rereadMs = 10_000;

/**
 * Rereads the files periodically, for new connections. While the files are unusable, as in the middle of an exchange,
 * the former contents stay in use.
 */
export function watchCertificates({
  files,
  names,
  log,
  everyMs = rereadMs,
}: {
  files: Required<TlsFiles>;
  /** The names that the certificate must have. */
  names: readonly string[];
  log: Log;
  everyMs?: number;
}): Certificates {
  let current = load(files, names);
  let problem = "";
  const ofAuthority = new Set<experimental.CaCertificateUpdateListener>();
  const ofIdentity = new Set<experimental.IdentityCertificateUpdateListener>();

  const reread = () => {
    try {
      const found = load(files, names);
      problem = "";
      if (isSame(found, current)) return;
      current = found;
      for (const tell of ofIdentity) tell(current.identity);
      for (const tell of ofAuthority) tell(current.authority);
      log.info("certificate exchanged", { until: current.validity.ends.toISOString() });
    } catch (error) {
      const found = error instanceof Error ? error.message : String(error);
      if (found !== problem) log.warn("certificate cannot be exchanged", { error });
      problem = found;
    }
  };
  const timer = setInterval(reread, everyMs);
  timer.unref();

  return {
    provider: {
      addCaCertificateListener(listener) {
        ofAuthority.add(listener);
        process.nextTick(() => listener(current.authority));
      },
      removeCaCertificateListener: (listener) => void ofAuthority.delete(listener),
      addIdentityCertificateListener(listener) {
        ofIdentity.add(listener);
        process.nextTick(() => listener(current.identity));
      },
      removeIdentityCertificateListener: (listener) => void ofIdentity.delete(listener),
    },
    validity: () => current.validity,
    close: () => clearInterval(timer),
  };
}

interface Loaded {
  readonly authority: experimental.CaCertificateUpdate;
  readonly identity: experimental.IdentityCertificateUpdate;
  readonly validity: Validity;
}

function load(files: Required<TlsFiles>, names: readonly string[]): Loaded {
  const { ca, cert, key } = readTlsFiles(files);
  if (ca === undefined || cert === undefined || key === undefined) throw new Error("all three files are required");
  const certificate = new X509Certificate(cert);
  const missing = names.filter((name) => !hasName(certificate, name));
  if (missing.length > 0)
    throw fault(
      "certificate_unusable",
      `the certificate in ${files.certificate} does not have the DNS name ${missing.join(", ")}, by which peers know this process; issue one that has it`,
    );
  return {
    authority: { caCertificate: ca },
    identity: { certificate: cert, privateKey: key },
    validity: { begins: certificate.validFromDate, ends: certificate.validToDate },
  };
}

function isSame(one: Loaded, other: Loaded): boolean {
  return (
    one.authority.caCertificate.equals(other.authority.caCertificate) &&
    one.identity.certificate.equals(other.identity.certificate) &&
    one.identity.privateKey.equals(other.identity.privateKey)
  );
}

/** Whether a certificate has a DNS name. Wildcards do not count: such a certificate would fit several services. */
export function hasName(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name, { subject: "never", wildcards: false }) !== undefined;
}

export function certificateOf({ raw }: PeerCertificate): X509Certificate {
  return new X509Certificate(raw);
}
