import pg from "pg";
import type { Log } from "../telemetry/log.ts";
import { toFault } from "./failure.ts";
import { rememberStatements } from "./prepared-statements.ts";
import { inTurn, type Queryable, runner } from "./queryable.ts";

export interface Dedicated extends Queryable {
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** The listener is called once, when the connection is lost. */
  onLost(listener: () => void): void;
  release(): Promise<void>;
}

/** Opens a connection outside of any pool. */
export async function openDedicated(connection: pg.ClientConfig, { log }: { readonly log: Log }): Promise<Dedicated> {
  const client = new pg.Client(connection);
  let listener: (() => void) | undefined;
  let lost = false;
  let released = false;
  const lose = () => {
    if (!lost && !released) listener?.();
    lost = true;
  };
  client.on("error", (error) => {
    if (!released) log.warn("database connection lost", { error: toFault(error) });
    lose();
  });
  client.on("end", lose);
  try {
    await client.connect();
  } catch (error) {
    throw toFault(error);
  }
  const statements = rememberStatements();
  const queryable = runner(
    inTurn(async (statement) => {
      try {
        return await client.query(statements.prepare(statement).query);
      } catch (error) {
        throw toFault(error);
      }
    }),
  );
  return {
    ...queryable,
    onNotification: (hear) => client.on("notification", ({ channel, payload }) => hear(channel, payload ?? "")),
    onLost: (whenLost) => {
      // It may be lost before there is a listener.
      if (lost) whenLost();
      else listener = whenLost;
    },
    async release() {
      released = true;
      await client.end();
    },
  };
}
