/** The place of a request, from its path. */
export interface OrganizerPlace {
  readonly organizer: string;
}

export interface EventPlace extends OrganizerPlace {
  readonly event: string;
}

/** A message that names an event is no message of its organizer. */
export interface NoEvent extends OrganizerPlace {
  readonly event?: never;
}

/** Only `Incoming` can make one: a copy by spreading loses the private mark. */
declare class Mark {
  private readonly isPlaced: true;
}

/** A message of a call in the place that the path of its request names. */
export type Placed<M> = M & Mark;

/** The fields of a message without its place and without `Said`. */
type Beside<M, Place, Said = never> = Omit<M, keyof Place | (Said & keyof M)> & {
  readonly [Name in keyof Place | (Said & keyof M)]?: never;
};

/**
 * Makes the messages of one place. Path, credential and declaration take precedence over what the client sent; the
 * compiler refuses fields that both set.
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

/** Clients whose messages are bound to the place in the path. */
export type PlacedClients<C> = { readonly [Name in keyof C]: PlacedClient<C[Name]> };

type PlacedClient<C> = {
  readonly [Method in keyof C]: C[Method] extends (message: infer M, options?: infer Options) => infer Answer
    ? (message: M extends OrganizerPlace ? Placed<M> : M, options?: Options) => Answer
    : never;
};
