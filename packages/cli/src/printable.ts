const longest = 200;

/** Makes visible what would move a terminal's cursor: names and messages come from outside. */
export function visible(text: string): string {
  return text.replace(/\p{C}|\p{Zl}|\p{Zp}/gu, "\ufffd");
}

/** Prepares a text from outside for a line: visible and not too long. */
export function printable(text: string): string {
  const shown = visible(text);
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
}
