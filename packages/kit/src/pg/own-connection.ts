import type { Db, Dedicated } from "./database.ts";

/** Runs work on a connection of its own. The connection is closed afterwards, which releases its locks and channels. `lost` aborts when the connection is lost. */
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
