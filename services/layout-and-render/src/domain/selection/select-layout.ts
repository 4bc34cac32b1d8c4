/** A layout as it is printed. */
export interface PrintedLayout {
  readonly id: number;
  /** JSON. */
  readonly elements: string;
  /** The name of its file; null: the built-in one. */
  readonly background: string | null;
}

/** The layouts that tickets of an event may have. */
export interface LayoutChoice {
  readonly layouts: ReadonlyMap<number, PrintedLayout>;
  readonly defaultLayout: number | null;
  /** Which layout is for a product on a channel. */
  readonly assigned: readonly AssignedLayout[];
}

export interface AssignedLayout {
  readonly layout: number;
  readonly item: number;
  readonly salesChannel: string;
}

/** What decides which layout a ticket has. */
export interface PrintedTicket {
  readonly item: number;
  /** Of its order, or what is said instead. */
  readonly salesChannel: string;
  /** Instead of the selected one. */
  readonly layout: number | undefined;
}

/** The channel whose layouts serve all channels without one of their own. */
const everyChannel = "web";

/**
 * Selects the layout of a ticket; null: the built-in one (L9.1). Of several that are
 * assigned alike, the newest assignment counts: it is the last of `assigned`.
 */
export function selectLayout(
  { item, salesChannel, layout }: PrintedTicket,
  { layouts, defaultLayout, assigned }: LayoutChoice,
): PrintedLayout | null {
  const ofItem = (channel: string) =>
    assigned.findLast((each) => each.item === item && each.salesChannel === channel)?.layout;
  const id = layout ?? ofItem(salesChannel) ?? ofItem(everyChannel) ?? defaultLayout;
  return id === null ? null : (layouts.get(id) ?? null);
}
