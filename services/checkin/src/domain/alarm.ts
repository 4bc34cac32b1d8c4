import type { AlarmKind } from "@tessera/resources/alarm";

/** What an alarm is about: each subject has at most one open alarm. */
export interface AlarmSubject {
  readonly kind: string;
  /** Null: scans that name no gate; or the alarm is of no gate. */
  readonly gate: number | null;
  readonly device: number | null;
  readonly list: number | null;
}

export interface HeldAlarm extends AlarmSubject {
  readonly kind: AlarmKind;
  /** In microseconds since 1970. */
  readonly since: number | null;
  readonly measured: number | null;
  readonly usual: number | null;
}

export type IsOpen = (subject: AlarmSubject) => boolean;
