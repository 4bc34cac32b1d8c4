/** What is in parentheses, from `case` to `end`, or the whole statement. */
interface Group {
  /** The indentation of what opens it, and that of its contents. */
  readonly outside: number;
  readonly inside: number;
  /** Undefined: its contents begin on the next line. */
  isQuery?: boolean;
  /** Its last clause joins a table. */
  joins?: boolean;
  /** Where the contents of its last clause stood before. */
  column: number;
}

interface Line {
  readonly text: string;
  /** Of its indentation before. */
  readonly width: number;
}

/** Wider than code, because parts stand deeper than where they were written. */
const widest = 140;
/** So far behind the beginning of its line the contents of a group may begin that goes on below. */
const farthest = 80;

const query = /^(?:select|with|insert|update|delete)\b/;
const clause =
  /^(?:select|from|where|and|or|(?:left |cross )?join|on|group|having|window|order|limit|offset|union|for|set|using|values|insert|update|delete|returning|--)(?!\w)/;
/** What opens or closes a group, what hides that, and the blanks where a line may end. */
const marks =
  /'(?:[^']|'')*'|"[^"]*"|--.*|[()]|\b(?:case|end)\b|(?<=,) | (?=[<>]=? \()|(?<!distinct|delete) (?=(?:from|where|and|or|(?:left |cross )?join|order by|limit|union)\b)/g;

/**
 * Indents a statement that was made of parts as if it were written in one piece: the first words of clauses end below that of
 * `select`, and what is in parentheses stands inside of them. It changes nothing but blanks and line breaks.
 */
export function layOutSql(statement: string): string {
  const groups: Group[] = [{ outside: 0, inside: 0, column: 0 }];
  // A part that begins with a line break stands behind the word that it follows.
  const padded = statement.replaceAll(/(?<!\bunion|\ball) \n\s*/g, " ").split("\n");
  const lines = padded.flatMap((line): Line[] => {
    const width = line.length - line.trimStart().length;
    const texts = line.replaceAll(/ (union(?: all)?) (?=select\b|\()/g, "\n$1\n").split("\n");
    return texts.map((text) => ({ text: text.trim(), width }));
  });
  const written: string[] = [];
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const { text, width } = line;
    if (text === "") continue;
    const indent = indentIn(groups.at(-1), line);
    const { end, after } = cut(text, { indent, width }, groups);
    written.push(" ".repeat(indent) + text.slice(0, end));
    if (end < text.length) lines.unshift({ text: text.slice(end + 1), width });
    groups.splice(0, groups.length, ...after);
  }
  return written.join("\n");
}

interface Cut {
  readonly end: number;
  /** The groups that are open there. */
  readonly after: readonly Group[];
}

/** Ends a line that is too wide before the first clause, or behind the last comma, of the outermost group where it can. */
function cut(
  text: string,
  { indent, width }: { readonly indent: number; readonly width: number },
  groups: readonly Group[],
): Cut {
  let [after, outside] = [groups, indent];
  let best: (Cut & { readonly rank: number }) | undefined;
  for (const { 0: mark, index: end } of text.matchAll(marks)) {
    if (mark === ")" || mark === "end") {
      outside = after.at(-1)?.outside ?? 0;
      after = after.slice(0, -1);
    } else if (mark === "(" || mark === "case") {
      const at = mark === "(" ? end + 1 : end;
      after = [...after, groupOf(text.slice(at), { outside, inside: indent + at, column: width + at })];
    } else if (mark === " " && (best === undefined || indent + end <= widest)) {
      const { isQuery = false, inside = 0 } = after.at(-1) ?? {};
      const [word] = /(?<=^ )\w+/.exec(text[end - 1] === "," ? "" : text.slice(end)) ?? [];
      if (word !== undefined && !isQuery && word !== "and" && word !== "or") continue;
      const rank = 2 * after.length + (word === undefined ? 1 : 0);
      const isBetter = best === undefined || rank < best.rank || (word === undefined && rank === best.rank);
      if (isBetter && inside - indent <= farthest) best = { end, after, rank };
    }
  }
  const isWide = indent + text.length > widest || (after.at(-1)?.inside ?? 0) - indent > farthest;
  return isWide && best !== undefined ? best : { end: text.length, after };
}

function groupOf(contents: string, group: Group): Group {
  if (contents === "") return { ...group, inside: group.outside + 2 };
  const [word] = query.exec(contents) ?? [];
  return { ...group, isQuery: word !== undefined, column: group.column + (word === undefined ? 0 : word.length + 1) };
}

function indentIn(group: Group | undefined, { text, width }: Line): number {
  if (group === undefined) throw new Error(`more is closed than opened before ${text}`);
  const isFirst = group.isQuery === undefined;
  group.isQuery ??= query.test(text);
  const [word] = (group.isQuery && (isFirst ? query : clause).exec(text)) || [];
  if (isFirst && word === undefined) group.column = width;
  const isJoining = group.joins === true && (word === "and" || word === "or");
  if (word !== undefined) {
    group.column = width + word.length + 1;
    group.joins = isJoining || /join$|^on$/.test(word);
  }
  if (text.startsWith(")")) return group.outside;
  if (isFirst) return group.inside;
  if (isJoining) return group.inside + 7;
  if (word === undefined) return group.inside + (group.isQuery ? 7 : 0) + Math.max(0, width - group.column);
  return group.inside + Math.max(0, 6 - word.replace(/ .*|--/, "").length);
}
