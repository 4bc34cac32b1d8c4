import type { Db, Dedicated } from "./database.ts";

/** Runs work with a connection of its own, whose end gives up its locks and channels; `lost` aborts when it is lost. */
export async function onOwnConnection(
  db: Db,
  work: (connection: Dedicated, lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const connection = await db.dedicated();
  try {
    const losing = new AbortController();
    connection.onLost(() => losing.abort());
    await work(connection, losing.signal);
  } finally {
    await connection.release().catch(() => {});
  }
}
