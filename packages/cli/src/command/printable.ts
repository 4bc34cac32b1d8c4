const longest = 200;

/** Replaces control characters, which would move the cursor of a terminal: names and messages come from outside. */
export function visible(text: string): string {
  return text.replace(/\p{C}|\p{Zl}|\p{Zp}/gu, "\ufffd");
}

/** Prepares a text from outside for one line: without control characters, and not too long. */
export function printable(text: string): string {
  const shown = visible(text);
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
}
