import type { Db, Tx } from "@tessera/kit/pg/database";

/** A database that loses its connection before the given statement of each transaction. */
export function losing(db: Db, at: number): { readonly db: Db; readonly isLost: () => boolean } {
  let lost = false;
  const count = (tx: Tx): Tx => {
    let statements = 0;
    return new Proxy(tx, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== "function") return value;
        return (...parameters: unknown[]) => {
          statements += 1;
          if (statements === at) lost = true;
          if (lost) return Promise.reject(new Error("the process was killed"));
          return Reflect.apply(value, target, parameters) as unknown;
        };
      },
    });
  };
  const losingDb: Db = { ...db, transaction: (work) => db.transaction((tx) => work(count(tx))) };
  return { db: losingDb, isLost: () => lost };
}
