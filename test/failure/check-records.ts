/** The fields of a position that are compared. */
export interface ShownPosition {
  readonly id: number;
  readonly order: string;
  readonly secret: string;
  readonly attendee_name: string;
  readonly item: number;
  readonly variation: number | null;
}

const compared = ["order", "secret", "attendee_name", "item", "variation"] as const;

/** Returns where REST differs from the last import. */
export function checkRecords(imported: ReadonlyMap<number, ShownPosition>, shown: readonly ShownPosition[]): string[] {
  const seen = new Map(shown.map((position) => [position.id, position]));
  const missing = [...imported.keys()].filter((id) => !seen.has(id));
  const extra = shown.filter(({ id }) => !imported.has(id));
  const different = shown.flatMap((position) => {
    const wanted = imported.get(position.id);
    const field = wanted === undefined ? undefined : compared.find((name) => wanted[name] !== position[name]);
    return field === undefined
      ? []
      : [`position ${position.id} has ${field} ${position[field]} instead of ${wanted?.[field]}`];
  });
  return [
    ...(missing.length > 0 ? [`${missing.length} positions are not shown, for instance ${missing[0]}`] : []),
    ...(extra.length > 0 ? [`${extra.length} positions should be gone, for instance ${extra[0]?.id}`] : []),
    ...(seen.size < shown.length ? [`${shown.length - seen.size} positions are shown twice`] : []),
    ...(different.length > 0 ? [`${different.length} positions are out of date; ${different[0]}`] : []),
  ];
}
