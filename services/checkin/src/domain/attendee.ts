/** A name as it is shown, and the parts it was made of. */
export interface PersonName {
  readonly name: string | undefined;
  readonly parts: Readonly<Record<string, string>>;
}

/** Finds the name of a visitor: that on the ticket, else on the ticket it is an add-on of, else on the invoice. */
export function nameAttendee(sources: {
  readonly own: PersonName;
  /** The name on the ticket that this ticket is an add-on of. */
  readonly parent: PersonName | undefined;
  readonly invoice: PersonName | undefined;
}): PersonName {
  for (const source of [sources.own, sources.parent]) {
    if (source?.name) return withFullName(source);
  }
  return withFullName(sources.invoice ?? { name: undefined, parts: sources.own.parts });
}

/** Some clients read only the full name. */
function withFullName(named: PersonName): PersonName {
  const { name, parts } = named;
  return !name || parts["full_name"] ? named : { name, parts: { ...parts, full_name: name } };
}
