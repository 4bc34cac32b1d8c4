const longest = 200;

/** Prepares a text that may come from anybody: what would move a terminal's cursor is made visible, and no line is endless. */
export function printable(text: string): string {
  const visible = text.replace(/\p{C}|\p{Zl}|\p{Zp}/gu, "\ufffd");
  return visible.length > longest ? `${visible.slice(0, longest)}…` : visible;
}
