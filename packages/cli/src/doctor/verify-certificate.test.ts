import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findPlatformKey, type PlatformKey, readPlatformKey, verifyCertificate } from "./verify-certificate.ts";

let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-certificate-"));
  path = join(folder, "certificate.json");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const signed = JSON.stringify({
  type: "tessera.erasure.v1",
  ...{ instance: "https://tickets.example", organizer: "bigevents", event: "sampleconf", case: "x" },
  ...{ shredders: ["order_emails"], exported: "2027-01-01", export_sha256: "ab", erased: "2027-01-02" },
  services: [{ service: "boxoffice", erased: [{ count: 7 }, { count: 2 }] }],
});
const write = (changes: object = {}) =>
  writeFile(
    path,
    JSON.stringify({
      signed,
      statement: JSON.parse(signed) as unknown,
      signature: sign(null, Buffer.from(signed), privateKey).toString("base64"),
      public_key: publicKey.export({ type: "spki", format: "pem" }),
      ...changes,
    }),
  );

const pemOf = (key: typeof publicKey) => key.export({ type: "spki", format: "pem" }).toString();
const genuine: PlatformKey = { pem: pemOf(publicKey), from: "its database" };
const check = () => verifyCertificate(path, genuine);

it("[D7.4] refuses a certificate that somebody has signed with another key than the platform's", async () => {
  const forger = generateKeyPairSync("ed25519");
  await write({
    signature: sign(null, Buffer.from(signed), forger.privateKey).toString("base64"),
    public_key: pemOf(forger.publicKey),
  });
  expect(await check()).toEqual({ isGood: false, lines: [expect.stringContaining("forged")] });
});

it("[D7.4] passes no certificate whose key cannot be compared, and says so", async () => {
  await write();
  const { isGood, lines } = await verifyCertificate(path, { missing: "DATABASE_URL is not set" });
  expect(isGood).toBe(false);
  expect(lines[1]).toMatch(/^NOT COMPARED .+DATABASE_URL is not set/);
});

it("[D7.4] reads the key of the platform as PEM, and as the API answers it", async () => {
  const file = join(folder, "key");
  for (const text of [pemOf(publicKey), JSON.stringify({ public_key: pemOf(publicKey) })]) {
    await writeFile(file, text);
    await write();
    expect(await verifyCertificate(path, await readPlatformKey(file))).toMatchObject({ isGood: true });
  }
});

it("[D7.2] says what a certificate proves", async () => {
  await write();
  const { isGood, lines } = await check();
  expect(isGood).toBe(true);
  expect(lines.join("\n")).toMatch(/signature fits.+bigevents\/sampleconf.+order_emails.+boxoffice 9/s);
});

it("[D7.2] refuses a certificate whose text was changed", async () => {
  await write({ signed: signed.replace("sampleconf", "another") });
  expect(await check()).toMatchObject({
    isGood: false,
    lines: [expect.stringContaining("does not fit")],
  });
});

it("[D7.2] refuses a statement that is not what was signed", async () => {
  await write({ statement: { ...(JSON.parse(signed) as object), event: "another" } });
  expect(await check()).toMatchObject({ isGood: false, lines: [expect.stringContaining("changed")] });
});

it("[D7.2] says so when a file is no certificate", async () => {
  await write({ signature: 7 });
  await expect(check()).rejects.toThrow(/lacks/);
  await write({ public_key: "x" });
  await expect(check()).rejects.toThrow(/key cannot be read/);
  for (const text of ["hello", "null"]) {
    await writeFile(path, text);
    await expect(check()).rejects.toThrow(/no JSON/);
  }
  await expect(verifyCertificate(join(folder, "none"), genuine)).rejects.toThrow(/cannot be read/);
});

it("the key of a platform that has no database here is missing, with the reason alone", async () => {
  const question = { names: ["all"], environment: {}, data: folder, health: [] };
  const found = await findPlatformKey(question);
  expect(found).toEqual({ missing: "no database answers" });
});
