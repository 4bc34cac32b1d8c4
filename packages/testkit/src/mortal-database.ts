import type { Db, Queryable, Tx } from "@tessera/kit/pg/database";

/** Thrown by every step of a process that is dead. */
class Dead extends Error {
  override readonly name = "Dead";
}

/** A life of a process: it ends before one of its steps, and none is done from then on. */
export interface Life {
  /** Counts a step, and throws where the process is dead. */
  step(): void;
  /** Lets the next life end before so many steps; by default it does not end. */
  begin(options?: { readonly endsAt?: number }): void;
  isOver(): boolean;
  /** Does work whose steps do not count. */
  spare<T>(work: () => Promise<T>): Promise<T>;
}

export function startLife(): Life {
  let left = Number.POSITIVE_INFINITY;
  return {
    step() {
      if (left > 0) left -= 1;
      if (left <= 0) throw new Dead("this process was killed");
    },
    begin({ endsAt = Number.POSITIVE_INFINITY } = {}) {
      left = endsAt;
    },
    isOver: () => left <= 0,
    async spare(work) {
      const kept = left;
      left = Number.POSITIVE_INFINITY;
      try {
        return await work();
      } finally {
        left = kept;
      }
    },
  };
}

/**
 * The database of a process that may be killed: before every statement, before every commit, and behind it, when it has
 * no answer yet.
 */
export function mortalDatabase(db: Db, life: Life): Db {
  return {
    ...db,
    ...mortalQueries(db, life),
    async transaction(work) {
      const result = await db.transaction(async (tx) => {
        const done = await work(mortalTransaction(tx, life));
        life.step();
        return done;
      });
      life.step();
      return result;
    },
  };
}

function mortalTransaction(tx: Tx, life: Life): Tx {
  return {
    ...mortalQueries(tx, life),
    async publish(topic, facts) {
      life.step();
      await tx.publish(topic, facts);
    },
    async retract(topic, keys, options) {
      life.step();
      await tx.retract(topic, keys, options);
    },
  };
}

function mortalQueries(db: Queryable, life: Life): Queryable {
  const before = async <T>(query: () => Promise<T>): Promise<T> => {
    life.step();
    return query();
  };
  return {
    many: <Row>(statement: Parameters<Queryable["many"]>[0]) => before(() => db.many<Row>(statement)),
    one: <Row>(statement: Parameters<Queryable["one"]>[0]) => before(() => db.one<Row>(statement)),
    maybeOne: <Row>(statement: Parameters<Queryable["maybeOne"]>[0]) => before(() => db.maybeOne<Row>(statement)),
    run: (statement) => before(() => db.run(statement)),
  };
}
