import { createHash } from "node:crypto";
import { openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import { expect, it } from "vitest";
import { startTestPlatform } from "./test-platform.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const openBoxoffice = (url: string) =>
  openDatabase({ url, schema: "boxoffice", role: roleOf("boxoffice"), applicationName: "test", log });

it("facts that waited while everything was down reach every service, though the relay starts before the consumers", async () => {
  const token = "a-key-that-was-made-just-before-the-crash";
  const platform = await startTestPlatform({
    async prepare(url) {
      const boxoffice = openBoxoffice(url);
      await boxoffice.transaction((tx) =>
        tx.publish(topics.credentialChanged, [
          {
            organizer: "big",
            kind: CredentialKind.API_KEY,
            id: "1",
            revision: 1,
            tokenHash: createHash("sha256").update(token).digest(),
            name: "waiting",
            permissions: [],
            allEvents: true,
            events: [],
            active: true,
            device: undefined,
          },
        ]),
      );
      await boxoffice.close();
    },
  });
  const boxoffice = openBoxoffice(platform.databaseUrl);
  try {
    const waiting = () => boxoffice.one<{ rows: number }>(sql`select count(*) as rows from outbox`);
    await expect.poll(waiting).toEqual({ rows: 0 });
    const list = () =>
      platform.request("GET", "/api/v1/organizers/big/events/none/checkinlists/", { as: `Token ${token}` });
    // The key is known, though the event does not exist; an unknown key would get 401.
    await expect.poll(async () => (await list()).status).toBe(403);
  } finally {
    await boxoffice.close();
    await platform.stop();
  }
});
