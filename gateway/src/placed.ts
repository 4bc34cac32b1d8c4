/** Where a request acts: its path says so. */
export interface OrganizerPlace {
  readonly organizer: string;
}

export interface EventPlace extends OrganizerPlace {
  readonly event: string;
}

/** Messages that name an event are no messages of its organizer. */
export interface NoEvent extends OrganizerPlace {
  readonly event?: never;
}

/** Nothing but `Incoming` makes one. A copy by spreading lacks the mark, because it is private. */
declare class Mark {
  private readonly isPlaced: true;
}

/** A message of a call that acts where the path of its request says. */
export type Placed<M> = M & Mark;

/** What a message says besides its place, and besides `Said`. Neither may be among it. */
type Beside<M, Place, Said = never> = Omit<M, keyof Place | (Said & keyof M)> & {
  readonly [Name in keyof Place | (Said & keyof M)]?: never;
};

/**
 * Makes the messages of one place. What the path, the credential and the declaration say comes first and prevails; what the
 * client sent comes after it, and the compiler refuses what both say.
 */
export interface Placing<Place> {
  <M extends Place>(said: Beside<M, Place>): Placed<M>;
  <M extends Place, Name extends Exclude<keyof M, keyof Place>>(
    said: Pick<M, Name>,
    sent: Beside<NoInfer<M>, Place, NoInfer<Name>>,
  ): Placed<M>;
}

export function placing<Place extends object>(place: Place): Placing<Place> {
  return (said: object, sent: object = {}) => ({ ...sent, ...said, ...place }) as never;
}

/** Clients whose messages act where a request's path says. */
export type PlacedClients<C> = { readonly [Name in keyof C]: PlacedClient<C[Name]> };

type PlacedClient<C> = {
  readonly [Method in keyof C]: C[Method] extends (message: infer M, options?: infer Options) => infer Answer
    ? (message: M extends OrganizerPlace ? Placed<M> : M, options?: Options) => Answer
    : never;
};
