/** A fact as it was committed to an outbox. */
export interface WrittenFact {
  readonly id: string;
  readonly topic: string;
  readonly key: string;
  /** Its position in the outbox. */
  readonly place: number;
}

/** A fact as a consumer has recorded it; in the order of arrival. */
export interface ArrivedFact {
  readonly consumer: string;
  readonly id: string;
}

export interface FactEvidence {
  readonly written: readonly WrittenFact[];
  readonly arrived: readonly ArrivedFact[];
  /** The consumers of each topic. */
  readonly consumers: ReadonlyMap<string, readonly string[]>;
  /** Facts that are still in an outbox. */
  readonly waiting: number;
}

/** Returns the committed facts that did not reach each consumer exactly once, in the order of their key. */
export function checkFacts({ written, arrived, consumers, waiting }: FactEvidence): string[] {
  const factOf = new Map(written.map((fact) => [fact.id, fact]));
  const arrivals = Map.groupBy(arrived, ({ consumer }) => consumer);
  const names = new Set([...[...consumers.values()].flat(), ...arrivals.keys()]);
  return [
    ...(waiting > 0 ? [`${waiting} facts still wait in an outbox`] : []),
    ...[...names].flatMap((consumer) => {
      const due = written.filter(({ topic }) => consumers.get(topic)?.includes(consumer));
      return checkConsumer(consumer, { due, came: arrivals.get(consumer) ?? [], factOf });
    }),
  ];
}

function checkConsumer(
  consumer: string,
  about: {
    due: readonly WrittenFact[];
    came: readonly ArrivedFact[];
    factOf: ReadonlyMap<string, WrittenFact>;
  },
): string[] {
  const { due, came, factOf } = about;
  const count = Map.groupBy(came, ({ id }) => id);
  const expected = new Set(due.map(({ id }) => id));
  const lost = due.filter(({ id }) => !count.has(id));
  const twice = [...count].filter(([, all]) => all.length > 1);
  const strange = [...count.keys()].filter((id) => !expected.has(id));
  const disordered: string[] = [];
  const places = new Map<string, number>();
  for (const { id } of came) {
    const fact = factOf.get(id);
    if (fact === undefined) continue;
    if (fact.place < (places.get(fact.key) ?? 0)) disordered.push(fact.key);
    places.set(fact.key, fact.place);
  }
  return [
    ...(lost.length > 0
      ? [`${consumer} never got ${lost.length} of ${due.length} facts, for instance of ${lost[0]?.key}`]
      : []),
    ...(twice.length > 0 ? [`${consumer} acted on ${twice.length} facts twice`] : []),
    ...(strange.length > 0 ? [`${consumer} got ${strange.length} facts that were never committed`] : []),
    ...(disordered.length > 0
      ? [`${consumer} got ${disordered.length} facts before older ones of their key, for instance ${disordered[0]}`]
      : []),
  ];
}
