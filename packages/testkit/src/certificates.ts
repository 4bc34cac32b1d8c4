import "reflect-metadata";
import type { webcrypto } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

/** A certificate and its key, as PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  /** The DNS names; what is an IP address becomes one. */
  readonly names: readonly string[];
  /** The name of the subject. PostgreSQL takes users from it. */
  readonly subject?: string;
  /** Ends at this time; by default in a day. */
  readonly until?: Date;
}

/** An authority for tests. */
export interface TestAuthority {
  /** Its own certificate, as PEM. */
  readonly certificate: string;
  issue(request: CertificateRequest): Promise<IssuedCertificate>;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const dayMs = 86_400_000;

/** Makes an authority with a key of its own. */
export async function createAuthority(name = "authority of a test"): Promise<TestAuthority> {
  const keys = await makeKeys();
  const own: X509Certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
    ...validUntil(new Date(Date.now() + dayMs)),
    extensions: [new BasicConstraintsExtension(true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true)],
  });
  return {
    certificate: own.toString("pem"),
    async issue({ names, subject = names[0] ?? "test", until = new Date(Date.now() + dayMs) }) {
      const { publicKey, privateKey } = await makeKeys();
      const alternatives = names.map((value) => ({
        type: isAddress(value) ? ("ip" as const) : ("dns" as const),
        value,
      }));
      const issued = await X509CertificateGenerator.create({
        subject: `CN=${subject}`,
        issuer: own.subject,
        publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        ...validUntil(until),
        extensions: [new SubjectAlternativeNameExtension(alternatives)],
      });
      return { certificate: issued.toString("pem"), key: await toPem(privateKey) };
    },
  };
}

/** Writes an authority, a certificate and its key into a folder, each in one step; returns the paths. */
export async function writeCertificate(
  directory: string,
  { authority, certificate, key }: IssuedCertificate & { authority: string },
): Promise<{ authority: string; certificate: string; key: string }> {
  await mkdir(directory, { recursive: true });
  const write = async (name: string, text: string) => {
    const path = join(directory, name);
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
    return path;
  };
  return {
    authority: await write("ca.pem", authority),
    certificate: await write("tls.pem", certificate),
    key: await write("key.pem", key),
  };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

function validUntil(notAfter: Date): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Math.min(Date.now(), notAfter.getTime()) - dayMs), notAfter };
}

function isAddress(name: string): boolean {
  return /^[\d.]+$|:/.test(name);
}

async function toPem(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await crypto.subtle.exportKey("pkcs8", key));
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
}
