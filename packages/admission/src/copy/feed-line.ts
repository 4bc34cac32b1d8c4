import type { Localized } from "@tessera/values";
import type { OrderStatus } from "../ticket.ts";

/** A line of the sync feed with hashed codes, as `docs/sync-feed.md` has it: an entity as it is now, or that it is gone. */
export type FeedLine = {
  readonly [K in keyof FeedData]: {
    readonly kind: K;
    readonly id: number;
    /** Of a presence, whose id is that of the ticket. */
    readonly list?: number;
    readonly data?: FeedData[K];
    readonly deleted?: true;
  };
}[keyof FeedData];

/** What of each entity decides scans, or is shown with a decision. Times are ISO 8601. */
export interface FeedData {
  readonly event: DatesOfEvent & {
    readonly timezone: string;
    readonly locale: string;
    readonly reusable_media_usage_enforced: boolean;
  };
  readonly subevent: DatesOfEvent;
  readonly item: ItemInFeed;
  readonly question: {
    readonly items: readonly number[];
    readonly position: number;
    readonly ask_during_checkin: boolean;
  };
  readonly list: {
    readonly name: string;
    readonly all_products: boolean;
    readonly limit_products: readonly number[];
    readonly subevent: number | null;
    readonly include_pending: boolean;
    readonly allow_multiple_entries: boolean;
    readonly allow_entry_after_exit: boolean;
    readonly addon_match: boolean;
    readonly rules: object;
  };
  readonly ticket: {
    readonly code: string;
    readonly item: number;
    readonly variation: number | null;
    readonly subevent: number | null;
    readonly addon_to: number | null;
    readonly order_status: OrderStatus;
    readonly valid_if_pending: boolean;
    readonly require_approval: boolean;
    readonly canceled: boolean;
    readonly blocked: boolean;
    readonly valid_from: string | null;
    readonly valid_until: string | null;
    readonly locale: string;
    readonly require_attention: boolean;
    readonly answered: readonly number[];
  };
  readonly presence: {
    readonly entries: number;
    /** Newest first. */
    readonly scans: readonly {
      readonly type: "entry" | "exit";
      readonly datetime: string;
      readonly gate: number | null;
      readonly device: number | null;
    }[];
  };
  readonly revoked: { readonly code: string; readonly ticket: number | null };
  readonly blocked: { readonly code: string; readonly blocked: boolean };
  readonly medium: {
    readonly code: string;
    readonly type: string;
    readonly active: boolean;
    readonly expires: string | null;
    readonly tickets: readonly { readonly event: string; readonly id: number }[];
  };
  /** Names no entity. */
  readonly cursor: never;
}

interface DatesOfEvent {
  readonly date_from: string | null;
  readonly date_to: string | null;
  readonly date_admission: string | null;
}

export interface ItemInFeed extends ShownAtGate {
  readonly name: Localized;
  readonly media_policy: string | null;
  readonly media_type: string | null;
  readonly variations: readonly (ShownAtGate & { readonly id: number; readonly value: Localized })[];
}

interface ShownAtGate {
  readonly checkin_attention: boolean;
  readonly checkin_text: string | null;
}
