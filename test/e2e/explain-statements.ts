import { type FileHandle, open as openFile } from "node:fs/promises";
import { join } from "node:path";
import type { Db } from "@tessera/kit/pg/database";
import { identifier, joinSql, literal, sql } from "@tessera/kit/pg/sql";

/** A node of a plan, as PostgreSQL writes it. */
interface Node {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly Plans?: readonly Node[];
}

/** A statement, and how many rows its plans have handled: by the table, the index or the kind of part that they came from. */
export interface Explained {
  readonly text: string;
  readonly rows: ReadonlyMap<string, number>;
}

const settings = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_buffers": "off",
  "auto_explain.log_format": "json",
  // Values are whole batches.
  "auto_explain.log_parameter_max_length": "0",
};

/** Has the server write the plan of every statement of a database into its log. Connections that are open write none. */
export async function explainStatements(db: Db): Promise<void> {
  const { name } = await db.one<{ name: string }>(sql`select current_database() as name`);
  for (const [setting, value] of Object.entries(settings)) {
    const named = joinSql(setting.split(".").map(identifier), ".");
    await db.run(sql`alter database ${identifier(name)} set ${named} = ${literal(value)}`);
  }
}

/** Follows the log of the server from here on. */
export async function followExplained(db: Db): Promise<{ next(): Promise<Explained[]>; close(): Promise<void> }> {
  const { data } = await db.one<{ data: string }>(sql`select current_setting('data_directory') as data`);
  const log = await openFile(join(data, "..", "postgres.log"));
  let from = (await log.stat()).size;
  return {
    async next() {
      const { size } = await log.stat();
      const written = await readPart(log, { from, size });
      from = size;
      return parsePlans(written);
    },
    close: () => log.close(),
  };
}

async function readPart(
  log: FileHandle,
  { from, size }: { readonly from: number; readonly size: number },
): Promise<string> {
  const { buffer } = await log.read(Buffer.alloc(size - from), 0, size - from, from);
  return buffer.toString();
}

/** Adds up all runs of each statement. */
function parsePlans(log: string): Explained[] {
  const statements = new Map<string, Map<string, number>>();
  for (const entry of log.split(/^(?=\d{4}-\d\d-\d\d )/m)) {
    const [, json] = entry.split(/ plan:\n(?=\s*\{)/, 2);
    if (json === undefined) continue;
    const { "Query Text": text, Plan: plan } = JSON.parse(json) as { "Query Text": string; Plan: Node };
    const rows = statements.get(text) ?? new Map<string, number>();
    statements.set(text, rows);
    addRows(plan, rows);
  }
  return [...statements].map(([text, rows]) => ({ text, rows }));
}

function addRows(node: Node, rows: Map<string, number>): void {
  const removed = Object.entries(node).filter(([name]) => name.startsWith("Rows Removed by"));
  const handled = removed.reduce((sum, [, count]) => sum + Number(count), node["Actual Rows"]) * node["Actual Loops"];
  const from = node["Relation Name"] ?? node["Index Name"] ?? node["Node Type"];
  rows.set(from, (rows.get(from) ?? 0) + handled);
  for (const child of node.Plans ?? []) addRows(child, rows);
}
