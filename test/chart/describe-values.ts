import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from "yaml";

/** Makes a table of the values of a chart: each with a comment that begins with `--`, its default and that comment. */
export function describeValues(text: string): string {
  const { contents } = parseDocument(text);
  const rows = isMap(contents) ? describeMap(contents, "") : [];
  return ["| Value | Default | What it is |", "|---|---|---|", ...rows].join("\n");
}

/** The parser gives the comment before the first key of a map to the map. */
function describeMap({ items, commentBefore }: YAMLMap, path: string): string[] {
  return items.flatMap((pair, index) => describe(pair, path, index === 0 ? commentBefore : undefined));
}

function describe({ key, value }: Pair, path: string, before?: string | null): string[] {
  if (!isScalar(key)) return [];
  const name = `${path}${String(key.value)}`;
  const comment = key.commentBefore ?? before ?? "";
  const purpose = /(?:^|\n) -- ([\s\S]+)$/.exec(comment)?.[1]?.replaceAll(/\n\s*/g, " ");
  if (purpose !== undefined) {
    const standard = JSON.stringify((value as { toJSON(): unknown } | null)?.toJSON() ?? null);
    return [`| \`${name}\` | \`${standard}\` | ${purpose} |`];
  }
  return isMap(value) ? describeMap(value, `${name}.`) : [];
}
