/**
 * Finds the code of a set-up in what a person pasted or a camera saw: a link, the text of the QR code for scanning apps, or
 * the code alone. Undefined: it has no code.
 */
export function readSetupLink(text: string): string | undefined {
  const said = text.trim();
  const inLink = /#setup=([\w-]+)$/.exec(said)?.[1];
  if (inLink !== undefined) return inLink;
  if (said.startsWith("{")) return readHandshake(said);
  return /^[\w-]{8,64}$/.test(said) ? said : undefined;
}

/** Whether a text sets a scanner up, by what it says of itself. */
export function isSetupLink(text: string): boolean {
  return (
    /^https?:\S*#setup=[\w-]+$/.test(text) || (/"handshake_version"/.test(text) && readHandshake(text) !== undefined)
  );
}

function readHandshake(text: string): string | undefined {
  try {
    const { token } = JSON.parse(text) as { readonly token?: unknown };
    return typeof token === "string" && token !== "" ? token : undefined;
  } catch {
    return undefined;
  }
}
