import { createHash } from "node:crypto";
import { startPlatform } from "@tessera/cli/serve/platform";
import { openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { topics } from "@tessera/protos/topics";
import getPort from "get-port";
import { expect, it } from "vitest";
import { createPlatformDatabase } from "./platform-database.ts";

it("facts that waited while everything was down reach every service, though the relay starts before the consumers", async () => {
  const database = await createPlatformDatabase();
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const boxoffice = openDatabase({
    url: database.url,
    schema: "boxoffice",
    role: roleOf("boxoffice"),
    applicationName: "test",
    log,
  });
  const token = "a-key-that-was-made-just-before-the-crash";
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
  const port = await getPort({ host: "127.0.0.1" });
  const platform = await startPlatform({
    names: ["all"],
    environment: { HTTP_PORT: String(port) },
    databaseUrl: database.url,
    transport: "inprocess",
    operationsPort: 0,
    log,
  });
  try {
    const waiting = () => boxoffice.one<{ rows: number }>(sql`select count(*) as rows from outbox`);
    await expect.poll(waiting).toEqual({ rows: 0 });
    const list = `http://127.0.0.1:${port}/api/v1/organizers/big/events/none/checkinlists/`;
    const { status } = await fetch(list, { headers: { authorization: `Token ${token}` } });
    // The key is known, though the event does not exist; an unknown key would get 401.
    expect(status).toBe(403);
  } finally {
    await platform.stop();
    await boxoffice.close();
    await database.drop();
  }
});
