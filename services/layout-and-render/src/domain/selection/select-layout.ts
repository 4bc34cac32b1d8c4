export interface PrintedLayout {
  readonly id: number;
  /** JSON. */
  readonly elements: string;
  /** The name of the file; null: the built-in background. */
  readonly background: string | null;
}

/** The layouts that tickets of an event may have. */
export interface LayoutChoice {
  readonly layouts: ReadonlyMap<number, PrintedLayout>;
  readonly defaultLayout: number | null;
  /** The layouts by product and channel. */
  readonly assigned: readonly AssignedLayout[];
}

export interface AssignedLayout {
  readonly layout: number;
  readonly item: number;
  readonly salesChannel: string;
}

/** The fields of a ticket that select its layout. */
export interface PrintedTicket {
  readonly item: number;
  /** The channel of its order, or an override. */
  readonly salesChannel: string;
  /** Overrides the selection. */
  readonly layout: number | undefined;
}

/** The channel whose layouts serve all channels without a layout of their own. */
const everyChannel = "web";

/** Selects the layout of a ticket; null: the built-in one (L9.1). Of equal assignments the last, newest one counts. */
export function selectLayout(
  { item, salesChannel, layout }: PrintedTicket,
  { layouts, defaultLayout, assigned }: LayoutChoice,
): PrintedLayout | null {
  const ofItem = (channel: string) =>
    assigned.findLast((each) => each.item === item && each.salesChannel === channel)?.layout;
  const id = layout ?? ofItem(salesChannel) ?? ofItem(everyChannel) ?? defaultLayout;
  return id === null ? null : (layouts.get(id) ?? null);
}
