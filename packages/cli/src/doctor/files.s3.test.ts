import { systemClock } from "@tessera/kit/clock";
import { type S3Server, startS3 } from "@tessera/testkit/engines/s3-server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lookAround } from "../configuration/surroundings.ts";
import { examineFiles } from "./examine-stores.ts";

let server: S3Server;
// The first time on a machine it is built.
beforeAll(async () => {
  server = await startS3();
}, 600_000);
afterAll(() => server.stop());

async function around({ bucket = server.bucket, secretKey = server.secretKey } = {}) {
  const environment = {
    FILES: "s3",
    S3_ENDPOINT: server.endpoint,
    S3_BUCKET: bucket,
    S3_PATH_STYLE: "on",
    S3_ACCESS_KEY_ID: server.accessKey,
    S3_SECRET_ACCESS_KEY: secretKey,
  };
  return lookAround({ names: ["all"], environment, data: "/nonexistent", health: [] }, { clock: systemClock });
}

it("a bucket is tried out", async () => {
  expect(await examineFiles(await around())).toEqual([
    { level: "ok", what: `the bucket ${server.bucket} stores files and returns them` },
  ]);
  expect(await examineFiles(await around({ bucket: "absent" }))).toEqual([
    expect.objectContaining({ level: "wrong", what: "the bucket absent cannot be used" }),
  ]);
  expect(await examineFiles(await around({ secretKey: "not-the-secret" }))).toEqual([
    expect.objectContaining({ level: "wrong", mend: expect.stringContaining("credentials") }),
  ]);
});
