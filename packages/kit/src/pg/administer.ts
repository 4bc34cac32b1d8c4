import pg from "pg";
import { toFault } from "./failure.ts";

/** Runs work on a connection of its own, for commands of an administrator. */
export async function withClient<T>(
  { url, purpose }: { url: string; purpose: string },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `tessera-${purpose}`,
    connectionTimeoutMillis: 5000,
  });
  // The statement under way fails too, and reports the error.
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}

export async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query("begin");
  try {
    await work();
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
