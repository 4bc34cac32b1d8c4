import { join } from "node:path";
import { type Progress, showProgress } from "@tessera/cli/progress";
import { startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import type { Db } from "@tessera/kit/pg/database";
import getPort from "get-port";
import { startServing } from "../serving-process.ts";
import { openSchema } from "./open-schema.ts";
import { fillLargeEvent, settleLargeEvent } from "./reads-material.ts";
import { importSeed, operatorKey } from "./reads-seed.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

interface LargeEvent {
  readonly baseUrl: string;
  readonly checkin: Db;
  readonly progress: Progress;
}

/** Runs a benchmark on a platform with one large event, beside a small one, of which nothing is left. */
export async function onLargeEvent(
  options: { readonly tickets: number; readonly scannedOfTen?: number },
  work: (event: LargeEvent) => Promise<void>,
): Promise<void> {
  const { tickets } = options;
  const folder = await makeScratchFolder();
  const directory = folder.path;
  const progress = showProgress();
  const postgres = await startEmbeddedPostgres({ directory });
  const port = await getPort({ host: "127.0.0.1" });
  const baseUrl = `http://127.0.0.1:${port}`;
  const platform = await startServing(
    ["all", "--port", String(port), "--data", join(directory, "platform"), "--database-url", postgres.url],
    { url: `${baseUrl}/api/v1/openapi.json`, environment: { TESSERA_OPERATOR_KEY: operatorKey } },
  );
  const checkin = openSchema(postgres.url, "checkin");
  try {
    await importSeed(baseUrl);
    await fillLargeEvent(checkin, {
      ...options,
      onFilled: (filled) => progress.update(`filling… ${filled} of ${tickets}`),
    });
    progress.update("vacuuming…");
    await settleLargeEvent(checkin);
    await work({ baseUrl, checkin, progress });
  } finally {
    progress.done();
    await checkin.close();
    await platform.stop();
    await postgres.stop();
    await folder.remove();
  }
}
