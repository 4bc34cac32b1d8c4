import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { systemClock } from "@tessera/kit/clock";
import { sql } from "@tessera/kit/pg/sql";
import { createTestDatabase } from "@tessera/testkit/database";
import { expect, it } from "vitest";
import { lookAround } from "../configuration/surroundings.ts";
import { loadServices } from "../services.ts";
import { examineBackgrounds } from "./examine-stores.ts";

it("layouts are named whose background is not in the file store", async () => {
  const [service] = await loadServices(["layout-and-render"]);
  if (service === undefined) throw new Error("there is no such service");
  const database = await createTestDatabase([{ schema: service.schema, migrations: service.migrations }]);
  const folder = await mkdtemp(join(tmpdir(), "tessera-backgrounds-"));
  const question = { names: ["layout-and-render"], data: "/nonexistent", health: [] };
  const environment = { DATABASE_URL: database.url, FILES_DIR: folder };
  const around = await lookAround({ ...question, environment }, { clock: systemClock });
  const db = database.open(service.schema);
  const give = (id: number, background: string) =>
    db.run(sql`
      insert into layout (organizer, event, id, name, is_default, elements, background, background_size, background_sha256)
      values ('org', 'fest', ${id}, 'L', false, '[]', ${background}, 3, 'aa')`);
  try {
    const examine = () => examineBackgrounds(around, service);
    const well = [{ level: "ok", what: "the background of every layout is stored" }];
    expect(await examine()).toEqual(well);
    const files = diskFiles({ directory: folder });
    const [stored, lost] = ["ab".repeat(20), "cd".repeat(20)] as const;
    await files.put(`backgrounds/${stored}.pdf`, Buffer.from("pdf"), { contentType: "application/pdf" });
    await files.close();
    await give(1, stored);
    expect(await examine()).toEqual(well);
    await give(2, lost);
    expect(await examine()).toEqual([
      expect.objectContaining({
        level: "wrong",
        what: "the file store lacks the background of 1 layout (org/fest/2)",
        mend: expect.stringContaining("restore backgrounds/"),
      }),
    ]);
    // The pod of `helm test` has not the volume of the one pod that it asks.
    const elsewhere = { ...around, config: { ...around.config, filesDirectory: join(folder, "absent") } };
    expect(await examineBackgrounds(elsewhere, service)).toMatchObject([{ level: "wrong" }]);
    const named = { ...elsewhere, health: ["http://tessera-all:9090"] };
    await expect(examineBackgrounds(named, service)).rejects.toThrow("the folder for files is not here");
  } finally {
    await around.database.close();
    await database.drop();
    await rm(folder, { recursive: true });
  }
});
