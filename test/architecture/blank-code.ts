/** After these a slash begins a regular expression; after anything else it divides. */
const beforeExpression =
  /(?:^|[([{}=,:;!&|?+\-*%<>~^]|\b(?:return|typeof|case|in|of|delete|void|throw|await|else|do))\s*$/;

/** Replaces comments, and for `bare` also the inside of literals, with spaces; lines and columns stay what they were. */
export function blankCode(text: string): { code: string; bare: string } {
  const code = text.split("");
  const bare = text.split("");
  const blank = (target: string[], from: number, to: number): void => {
    for (let at = from; at < to; at++) if (target[at] !== "\n") target[at] = " ";
  };
  const comment = (from: number, to: number): number => {
    blank(code, from, to);
    blank(bare, from, to);
    return to;
  };
  const literal = (from: number, to: number): number => {
    blank(bare, from, to);
    return to;
  };
  // How deep in braces each template that is open stands: its `}` at that depth leads back into the text.
  const templates: number[] = [];
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (text.startsWith("//", at)) at = comment(at, indexOr(text, "\n", at));
    else if (text.startsWith("/*", at)) at = comment(at, indexOr(text, "*/", at + 2) + 2);
    else if (char === '"' || char === "'") at = literal(at + 1, endOfString(text, at)) + 1;
    else if (char === "`" || (char === "}" && templates.at(-1) === depth)) {
      if (char === "}") templates.pop();
      const end = endOfTemplateText(text, at + 1);
      literal(at + 1, end);
      if (text.startsWith("${", end)) templates.push(depth);
      at = text.startsWith("${", end) ? end + 2 : end + 1;
    } else if (char === "/" && beforeExpression.test(bare.slice(Math.max(0, at - 200), at).join(""))) {
      at = literal(at + 1, endOfRegex(text, at)) + 1;
    } else {
      if (char === "{") depth++;
      if (char === "}") depth--;
      at++;
    }
  }
  return { code: code.join(""), bare: bare.join("") };
}

/** Replaces `-- …` and block comments of SQL with spaces. */
export function blankSqlComments(text: string): string {
  return text.replaceAll(/--.*|\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "));
}

function indexOr(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found;
}

function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== quote && text.charAt(at) !== "\n")
    at += text.charAt(at) === "\\" ? 2 : 1;
  return at;
}

function endOfTemplateText(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charAt(at) !== "`" && !text.startsWith("${", at))
    at += text.charAt(at) === "\\" ? 2 : 1;
  return at;
}

function endOfRegex(text: string, start: number): number {
  let inClass = false;
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== "\n") {
    const char = text.charAt(at);
    if (char === "/" && !inClass) return at;
    if (char === "[") inClass = true;
    if (char === "]") inClass = false;
    at += char === "\\" ? 2 : 1;
  }
  return at;
}
