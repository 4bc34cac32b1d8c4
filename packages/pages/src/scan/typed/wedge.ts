import { signal } from "@preact/signals";
import type { Attempt } from "../one-scan.ts";
import type { Verdict } from "../verdict/verdict.ts";
import { checkCode } from "./check-code.ts";
import type { Layout } from "./keyboard-layouts.ts";
import { readWedge, type WedgeReading } from "./read-wedge.ts";
import type { PressedKey } from "./wedge-buffer.ts";

/** How a scanner types other characters than it means. */
export interface Mistyping {
  readonly scanner: Layout;
  /** The layout of this device; undefined: one that this page does not know. */
  readonly here: Layout | undefined;
  /** The letters alone differ, by their case. */
  readonly isCaps: boolean;
}

/** Told until a person has read it. */
export const mistyping = signal<Mistyping | undefined>(undefined);

/** The layout of the scanner, where it is another one than that of this device, since a ticket has proved it. */
let known: Layout | undefined;
let last: WedgeReading | undefined;
let isRead = false;

/** Reads the keys of a scanner by what is known of it. */
export function readScanner(keys: readonly PressedKey[]): WedgeReading {
  last = readWedge(keys, known);
  return last;
}

/** A ticket that exists proves how the scanner types. */
export function learnFrom({ code }: Attempt, { reason }: Verdict): void {
  if (last?.other === undefined || reason === "invalid") return;
  const { other, here } = last;
  const right = [last, other].find((reading) => sameCode(reading.code, code));
  if (right === undefined) return;
  known = right.layout;
  const wrong = right === last ? other : last;
  if (known !== undefined && !isRead)
    mistyping.value = { scanner: known, here, isCaps: right.code.toLowerCase() === wrong.code.toLowerCase() };
  last = undefined;
}

export function dismissMistyping(): void {
  isRead = true;
  mistyping.value = undefined;
}

function sameCode(read: string, code: string): boolean {
  const checked = checkCode(read);
  return "code" in checked && checked.code === code;
}

/** A key as a scanner has pressed it; undefined: it is a command of the browser. */
export function toPressedKey(event: KeyboardEvent): PressedKey | undefined {
  // With this key layouts have more characters than the US one, so that the places tell nothing.
  const isThird = event.getModifierState("AltGraph");
  if (!isThird && (event.ctrlKey || event.metaKey || event.altKey)) return undefined;
  return { key: event.key, code: isThird ? "" : event.code, shift: event.shiftKey };
}
