import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/files/disk";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { expect, it } from "vitest";
import { examinations } from "./examinations.ts";
import { layoutDatabase } from "./testing/database.ts";

const { db } = await layoutDatabase();

it("layouts are named whose background is not in the file store", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tessera-backgrounds-"));
  const files = diskFiles({ directory: folder });
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const give = (id: number, background: string) =>
    db.run(sql`
      insert into layout (organizer, event, id, name, is_default, elements, background, background_size, background_sha256)
      values ('org', 'fest', ${id}, 'L', false, '[]', ${background}, 3, 'aa')`);
  const examine = () =>
    examinations
      .find(({ area }) => area === "files")
      ?.examine({ environment: {}, log, db: async () => db, withFiles: (work) => work(files) });
  try {
    const well = [{ level: "ok", what: "the background of every layout is stored" }];
    expect(await examine()).toEqual(well);
    const [stored, lost] = ["ab".repeat(20), "cd".repeat(20)] as const;
    await files.put(`backgrounds/${stored}.pdf`, Buffer.from("pdf"), { contentType: "application/pdf" });
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
  } finally {
    await files.close();
    await rm(folder, { recursive: true });
  }
});
