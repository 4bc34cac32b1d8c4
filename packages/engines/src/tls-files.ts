import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { fault } from "@tessera/kit/faults";

/** Paths of PEM files. A certificate and its key go together. */
export interface TlsFiles {
  /** The authorities whose certificates are accepted; by default those of Node. */
  readonly authority?: string | undefined;
  /** The certificate of this process, then those of intermediate authorities. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** The contents of files that fit together, as options of a TLS connection. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** Reads the files, which may be replaced at any time, and refuses what cannot be used. */
export function readTlsFiles(files: TlsFiles): TlsMaterial {
  const ca = readFile(files.authority);
  const cert = readFile(files.certificate);
  const key = readFile(files.key);
  if (ca !== undefined) requireUsable(files.authority, () => certificatesIn(ca));
  if (cert !== undefined) requireUsable(files.certificate, () => certificatesIn(cert));
  if (key !== undefined) requireUsable(files.key, () => createPrivateKey(key));
  const material = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw unusable(`the key in ${files.key} does not belong to the certificate in ${files.certificate}`);
  requireUsable(files.certificate ?? files.authority, () => createSecureContext(material));
  return material;
}

const certificateForm = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export function certificatesIn(pem: Buffer): [X509Certificate, ...X509Certificate[]] {
  const [first, ...others] = (pem.toString("latin1").match(certificateForm) ?? []).map(
    (text) => new X509Certificate(text),
  );
  if (first === undefined) throw new Error("it holds no certificate in PEM form");
  return [first, ...others];
}

function readFile(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  return requireUsable(path, () => readFileSync(path));
}

function requireUsable<T>(path: string | undefined, use: () => T): T {
  try {
    return use();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw unusable(`${path} cannot be used: ${code ?? message}`, error);
  }
}

function unusable(problem: string, cause?: unknown): Error {
  return fault("certificate_unusable", `${problem}; put certificate, key and authorities there in PEM form`, { cause });
}
