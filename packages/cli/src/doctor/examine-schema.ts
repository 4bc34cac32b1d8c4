import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { explainFailure, explainRefusal } from "./explain-failure.ts";
import { type Finding, ok, wrong } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** More than a person reads at once; the next run shows the rest. */
const mostListed = 10;

/** Examines whether the schema and the role of a service exist, every migration was applied unchanged, and all is the role's. */
export async function examineSchema({ database }: Surroundings, service: Service): Promise<Finding[]> {
  const { name, schema } = service;
  const refusal = await database.refusal(service);
  if (refusal instanceof Fault && refusal.kind === "unmet") return explainRefusal(refusal);
  if (refusal !== undefined) return [explainFailure(refusal, { what: `the schema of ${name} cannot be read` })];
  const foreign = await findForeign(await database.as(service), schema);
  return foreign.length > 0 ? foreign : [ok(`the schema of ${name} is up to date`)];
}

/** Finds what another role owns. A restoration without owners, or an administrator who made a table again, leaves it behind. */
async function findForeign(db: Db, schema: string): Promise<Finding[]> {
  const role = roleOf(schema);
  const rows = await db.many<{ name: string; owner: string; mend: string }>(sql`
    select pg_class.relname as name, pg_get_userbyid(pg_class.relowner) as owner,
           format('alter table %I.%I owner to %I', pg_namespace.nspname, pg_class.relname, ${role}::text) as mend
      from pg_class
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
     where pg_namespace.nspname = ${schema}
       and pg_class.relkind in ('r', 'p', 'S', 'v', 'm')
       and pg_get_userbyid(pg_class.relowner) <> ${role}
       and not exists (select from pg_depend
                        where pg_depend.classid = 'pg_class'::regclass
                          and pg_depend.objid = pg_class.oid
                          and pg_depend.deptype = 'e')
     order by pg_class.relname
     limit ${mostListed}`);
  return rows.map(({ name, owner, mend }) =>
    wrong(`${name} of schema ${schema} belongs to ${owner}, not to ${role}`, {
      why: "the service has no right to it, and what needs it fails or is answered 503",
      mend: `as ${owner} or a superuser: ${mend}; a table of your own belongs into another schema`,
    }),
  );
}
