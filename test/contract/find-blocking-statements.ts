/** A migration, in the order in which it is applied. */
export interface MigrationText {
  readonly name: string;
  readonly text: string;
}

/**
 * Finds statements of migrations that keep writers of an existing table waiting for as long as it is large: they build an
 * index, rewrite the table, or read all of it under a lock. A table that the same file creates is empty.
 */
export function findBlockingStatements(migrations: readonly MigrationText[]): string[] {
  const existing = new Set<string>();
  return migrations.flatMap(({ name, text }) => {
    const isTransactional = !/^--! no-transaction$/m.test(text);
    const statements = statementsOf(text);
    const found = statements.flatMap((statement, index) => {
      const problem = isTransactional
        ? findProblem(statement, existing)
        : findUnrepeatable(statement, statements.slice(0, index));
      return problem === undefined ? [] : [`${name}: ${problem}: ${statement.slice(0, 100)}`];
    });
    for (const statement of statements) {
      const created = /^create (?:unlogged )?table (?:if not exists )?(\S+)/.exec(statement)?.[1];
      if (created !== undefined) existing.add(created);
    }
    return found;
  });
}

/** The statements without comments, texts and needless blanks, in lower case. */
function statementsOf(text: string): string[] {
  return text
    .replaceAll(/--.*$/gm, "")
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll('"', "")
    .toLowerCase()
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "");
}

/** Where an index is built beside writers, only what can be repeated after a crash may stand. */
function findUnrepeatable(statement: string, before: readonly string[]): string | undefined {
  const built = /^create (?:unique )?index concurrently (\S+) on /.exec(statement)?.[1];
  if (built !== undefined) {
    const isDroppedFirst = before.includes(`drop index concurrently if exists ${built}`);
    return isDroppedFirst
      ? undefined
      : "an interrupted build leaves an index that is never valid; drop it first, concurrently";
  }
  if (/^drop index concurrently if exists /.test(statement)) return undefined;
  if (/^alter table \S+ validate constraint /.test(statement)) return undefined;
  return "without a transaction only indexes are built and dropped concurrently, and constraints validated";
}

function findProblem(statement: string, existing: ReadonlySet<string>): string | undefined {
  const [first = ""] = statement.split(" ");
  const isExisting = (table: string | undefined) => table !== undefined && existing.has(table);
  if (first === "create" && isExisting(/^create (?:unique )?index .*?\bon (?:only )?(\S+)/.exec(statement)?.[1])) {
    return "an index on an existing table is built concurrently, with --! no-transaction";
  }
  if (first === "update" && isExisting(/^update (?:only )?(\S+)/.exec(statement)?.[1])) return rewrites;
  if (first === "delete" && isExisting(/^delete from (?:only )?(\S+)/.exec(statement)?.[1])) return rewrites;
  if (["do", "cluster", "lock", "reindex", "truncate", "vacuum", "with"].includes(first)) {
    return "it may lock or rewrite an existing table; a job can do this in batches";
  }
  const [, table, actions = ""] = /^alter table (?:if exists )?(?:only )?(\S+) (.*)$/.exec(statement) ?? [];
  if (!isExisting(table)) return undefined;
  return splitActions(actions)
    .map(findProblemOfAction)
    .find((problem) => problem !== undefined);
}

const rewrites = "it rewrites rows of an existing table under one lock; a job can do this in batches";

/** The parts between commas that are in no parentheses. */
function splitActions(actions: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const letter of actions) {
    depth += Number(letter === "(") - Number(letter === ")");
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim());
}

function findProblemOfAction(action: string): string | undefined {
  if (/^add (?:constraint \S+ )?(?:check|foreign key)\b/.test(action)) {
    return / not valid$/.test(action)
      ? undefined
      : "a constraint is added as not valid, and validated in a later migration";
  }
  if (/^add (?:constraint \S+ )?(?:unique|primary key|exclude)\b/.test(action)) {
    return / using index \S+$/.test(action) ? undefined : "a key takes an index that was built concurrently before";
  }
  if (/^add /.test(action)) {
    if (/ (?:unique|primary key|references|check|generated)\b/.test(action)) return "it reads or rewrites the table";
    const value = / default (.*?)(?: not null| null|$)/.exec(action)?.[1];
    return value === undefined || isFixed(value) ? undefined : "a default that differs by row rewrites the table";
  }
  if (/^alter (?:column )?\S+ (?:set data )?type\b/.test(action))
    return "another type rewrites the table; add a column";
  if (/^alter (?:column )?\S+ set not null$/.test(action)) {
    return "it reads the whole table; add a check that is not valid at first, and validate it later";
  }
  return /^set (?:logged|unlogged|tablespace|access method)\b/.test(action) ? "it rewrites the table" : undefined;
}

/** One value for all rows: it is stored once. */
function isFixed(value: string): boolean {
  return /^(?:''|-?[\d.]+|true|false|now\(\)|null|array\[\])(?:::[\w[\] ]+)?$/.test(value);
}
