import type { Sql } from "../pg/sql.ts";
import type { Columns } from "../pg/table.ts";

/**
 * Rows that a service keeps and that another one keeps, too, by facts of a topic. When all facts have arrived, both say the
 * same. The operator's examination compares them.
 */
export interface Account {
  /** What it is about, for a sentence. The other service has an account of this name. */
  readonly name: string;
  /** A rebuild of it corrects the copy. Its owner has the true rows. */
  readonly topic: { readonly name: string; readonly owner: string };
  /** The topic whose facts change both sides. The service that publishes them has the copy, which changes first. */
  readonly movedBy?: { readonly name: string };
  /** The columns of the key, in the order of an index. */
  readonly key: Columns;
  /** Selects the key, `revision`, and `content`: a text. */
  readonly rows: Sql;
  /** The rows that the service should have, for an account that is compared within one service. */
  readonly truth?: Sql;
  /** What a difference does to users. */
  readonly harm: string;
  /** What to do about a difference, where no rebuild corrects it. */
  readonly mend?: string;
  /** The owner has rows that the copy may lack. */
  readonly isPart?: boolean;
}
