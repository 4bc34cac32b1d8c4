import type { EventKey } from "@tessera/events/entity-key";
import type { Log } from "@tessera/kit/telemetry/log";

/** Log lines of what happens here. */
export type ShredEvents = ReturnType<typeof reportEvents>;

export function reportEvents({ log }: { readonly log: Log }) {
  return {
    exportAsked({ organizer, event }: EventKey, id: string, kinds: readonly string[]): void {
      log.info("export of personal data asked for", { organizer, event, export: id, kinds });
    },
    shredAsked({ organizer, event }: EventKey, id: string, kinds: readonly string[]): void {
      log.info("erasure of personal data asked for", { organizer, event, case: id, kinds });
    },
    retentionSet(organizer: string, set: { readonly days: number; readonly kinds: readonly string[] }): void {
      log.info("retention of personal data set", { organizer, ...set });
    },
    retentionFailed(of: { readonly organizer: string; readonly event?: string }, error: unknown): void {
      log.warn("a step of retention failed; it is tried again later", { ...of, error });
    },
    retentionEnded(organizer: string): void {
      log.info("retention of personal data switched off", { organizer });
    },
    shredded({ organizer, event }: EventKey, id: string, counts: Readonly<Record<string, number>>): void {
      log.info("personal data erased", { organizer, event, case: id, counts });
    },
  };
}
