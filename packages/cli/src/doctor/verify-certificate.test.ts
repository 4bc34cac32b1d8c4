import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { verifyCertificate } from "./verify-certificate.ts";

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

it("[D7.2] says what a certificate proves", async () => {
  await write();
  const { isGood, lines } = await verifyCertificate(path);
  expect(isGood).toBe(true);
  expect(lines.join("\n")).toMatch(/signature fits.+bigevents\/sampleconf.+order_emails.+boxoffice 9/s);
});

it("[D7.2] refuses a certificate whose text was changed", async () => {
  await write({ signed: signed.replace("sampleconf", "another") });
  expect(await verifyCertificate(path)).toMatchObject({
    isGood: false,
    lines: [expect.stringContaining("does not fit")],
  });
});

it("[D7.2] refuses a statement that is not what was signed", async () => {
  await write({ statement: { ...(JSON.parse(signed) as object), event: "another" } });
  expect(await verifyCertificate(path)).toMatchObject({ isGood: false, lines: [expect.stringContaining("changed")] });
});

it("[D7.2] says so when a file is no certificate", async () => {
  await write({ signature: 7 });
  await expect(verifyCertificate(path)).rejects.toThrow(/lacks/);
  await write({ public_key: "x" });
  await expect(verifyCertificate(path)).rejects.toThrow(/key cannot be read/);
  await writeFile(path, "hello");
  await expect(verifyCertificate(path)).rejects.toThrow(/no JSON/);
  await expect(verifyCertificate(join(folder, "none"))).rejects.toThrow(/cannot be read/);
});
