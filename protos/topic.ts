/** How long a topic keeps its facts. Compacted: the newest fact per key for ever, so that a new consumer can start from the beginning. */
export type Retention = { readonly kind: "compacted" } | { readonly kind: "days"; readonly days: number };

/** A kind of fact, as its owner and all its readers agree on it. */
export interface Topic<F> {
  /** `<owner>.<fact-in-past-tense>.v<n>` */
  readonly name: string;
  /** The only service that publishes it. */
  readonly owner: string;
  readonly partitions: number;
  readonly retention: Retention;
  /**
   * Field paths of the payload with personal data, by the shredder that erases them; `kept` are those that none erases.
   * Only compacted topics may have them, where publishing the erased state erases them, and the record feed, which keeps
   * them for days.
   */
  readonly personalData: Readonly<Record<string, readonly string[]>>;
  /** Publishers outside of the platform also use it; their facts may lack an id. */
  readonly fromOutside?: {
    /** What a message is about, because a key covers several things. A later message about the same thing replaces it. */
    subject(value: Uint8Array): string;
    /** The key that such a message should have: `organizer/event`. Undefined: it cannot be read. */
    place(value: Uint8Array): string | undefined;
  };
  /** Facts with one key stay in order. */
  key(fact: F): string;
  /** Reads the address of an entity from its key, because a tombstone has no payload. Only topics of entities have it. */
  readonly parseKey?: (key: string) => Readonly<Record<string, string | number>>;
  encode(fact: F): Uint8Array;
  decode(bytes: Uint8Array): F;
}

export interface Codec<F> {
  encode(fact: F): { finish(): Uint8Array };
  decode(bytes: Uint8Array): F;
}

/**
 * What a topic takes in one message, with its key and headers. A fact has some kilobytes: this leaves room for
 * exceptions, and one message does not hold up the others for long.
 */
export const mostMessageBytes = 4 * 1024 * 1024;

/** Declares a topic; the catalogue in topics.ts is the only caller. */
export function topic<F>(name: string, codec: Codec<F>, about: Omit<Topic<F>, "name" | "encode" | "decode">): Topic<F> {
  return { name, ...about, encode: (fact) => codec.encode(fact).finish(), decode: (bytes) => codec.decode(bytes) };
}
