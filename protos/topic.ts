/** How long a topic keeps what it holds. Compacted: the newest fact per key for ever, which lets a new consumer start from nothing. */
export type Retention = { readonly kind: "compacted" } | { readonly kind: "days"; readonly days: number };

/** A kind of fact, as its owner and all its readers agree on it. */
export interface Topic<F> {
  /** `<owner>.<fact-in-past-tense>.v<n>` */
  readonly name: string;
  /** The only service that publishes it. */
  readonly owner: string;
  readonly partitions: number;
  readonly retention: Retention;
  /** Field paths of the payload that hold personal data. Only compacted topics may have any, for publishing the erased state erases it, and the record feed, which forgets within days. */
  readonly personalData: readonly string[];
  /** Others than its owner publish it, too, and need not give their facts an id. */
  readonly fromOutside?: {
    /** What a message is about, where its key covers more than one thing: a later message about the same replaces it. */
    subject(value: Uint8Array): string;
  };
  /** Facts with one key stay in order. */
  key(fact: F): string;
  /** What a key says of its entity, which is all that a tombstone leaves of it. Only topics of entities have it. */
  readonly parseKey?: (key: string) => Readonly<Record<string, string | number>>;
  encode(fact: F): Uint8Array;
  decode(bytes: Uint8Array): F;
}

export interface Codec<F> {
  encode(fact: F): { finish(): Uint8Array };
  decode(bytes: Uint8Array): F;
}

/** Declares a topic; the catalogue in topics.ts is the only caller. */
export function topic<F>(name: string, codec: Codec<F>, about: Omit<Topic<F>, "name" | "encode" | "decode">): Topic<F> {
  return { name, ...about, encode: (fact) => codec.encode(fact).finish(), decode: (bytes) => codec.decode(bytes) };
}
