import type { Db, Tx } from "@tessera/kit/pg/database";

/** A database whose process is killed at a step: before a statement, or behind a commit. Later steps fail, too. */
export function killedDb(db: Db) {
  let left = Number.POSITIVE_INFINITY;
  let isCounting = false;
  const step = () => {
    if (!isCounting) return;
    left -= 1;
    if (left <= 0) throw new Error("the process was killed");
  };
  const statements = ["run", "one", "maybeOne", "many"];
  const counted = <Q extends object>(of: Q): Q =>
    new Proxy(of, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== "function" || !statements.includes(String(name))) return value;
        return async (...parameters: unknown[]) => {
          step();
          return (await Reflect.apply(value, target, parameters)) as unknown;
        };
      },
    });
  const killed: Db = {
    ...counted(db),
    ...Object.fromEntries(statements.map((name) => [name, Reflect.get(counted(db), name)])),
    async transaction(work) {
      step();
      const done = await db.transaction((tx: Tx) => work(counted(tx)));
      step();
      return done;
    },
  };
  return {
    db: killed,
    /** Kills what is done from now on, at the step of this number, from 1. */
    killAt(number: number): void {
      left = number;
    },
    /** Does something that may be killed; whether it was. Then the process is there again. */
    async during(work: () => Promise<void>): Promise<boolean> {
      isCounting = true;
      try {
        await work();
      } catch (error) {
        if (left > 0) throw error;
      } finally {
        isCounting = false;
      }
      const isKilled = left <= 0;
      if (isKilled) left = Number.POSITIVE_INFINITY;
      return isKilled;
    },
  };
}
