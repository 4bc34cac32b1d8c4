import { toFault } from "@tessera/kit/pg/failure";
import pg from "pg";

/**
 * Prints a schema as SQL that would create it: sequences, types, functions, tables with their indexes, triggers and
 * comments, views, foreign keys. The order of the migrations does not change the text. Partitions with a date in their
 * name are left out, so the day does not change it either.
 */
export async function printSchema(url: string, schema: string): Promise<string> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "tessera-print-schema",
    connectionTimeoutMillis: 5000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("begin isolation level repeatable read read only");
    // Objects of the first schema in the path are printed without the name of the schema.
    await client.query(`set local search_path = ${pg.escapeIdentifier(schema)}, public`);
    const read: Read = async <Row extends pg.QueryResultRow>(text: string) => {
      const { rows } = await client.query<Row>(text, [schema]);
      return rows;
    };
    const [functionLines, tables] = [await functions(read), await describeTables(read)];
    const parts = [
      await sequences(read),
      await types(read),
      ...functionLines,
      ...tables,
      ...(await views(read)),
      await foreignKeys(read),
      await sequenceOwners(read),
    ];
    const printed = parts.filter((part) => part !== "").map((part) => `${part}\n`);
    return printed.join("\n");
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}

type Read = <Row extends pg.QueryResultRow>(text: string) => Promise<Row[]>;

/** The parts of tables, by the table's name. */
type ByTable = ReadonlyMap<string, readonly string[]>;

const isDated = `pg_class.relispartition and pg_class.relname ~ '[0-9]{4}_?[0-9]{2}(_?[0-9]{2})?$'`;

const inSchema = `pg_class.relnamespace = $1::regnamespace and not (${isDated})`;

async function sequences(read: Read): Promise<string> {
  const rows = await read<{ name: string; type: string } & SequenceOptions>(`
    select pg_class.oid::regclass::text as name, pg_sequence.seqtypid::regtype::text as type, ${sequenceOptions}
      from pg_class
      join pg_sequence on pg_sequence.seqrelid = pg_class.oid
     where ${inSchema}
       and not exists (select 1 from pg_depend where pg_depend.objid = pg_class.oid and pg_depend.deptype = 'i')
     order by pg_class.relname collate "C"`);
  return rows.map((row) => `create sequence ${row.name} as ${row.type}${sequenceClauses(row)};`).join("\n");
}

interface SequenceOptions extends pg.QueryResultRow {
  readonly start: string;
  readonly step: string;
  readonly lowest: string;
  readonly highest: string;
  readonly cache: string;
  readonly cycles: boolean;
  readonly limit: string;
}

const sequenceOptions = `
  pg_sequence.seqstart::text as start, pg_sequence.seqincrement::text as step, pg_sequence.seqmin::text as lowest,
  pg_sequence.seqmax::text as highest, pg_sequence.seqcache::text as cache, pg_sequence.seqcycle as cycles,
  case pg_sequence.seqtypid when 'smallint'::regtype then '32767' when 'integer'::regtype then '2147483647'
       else '9223372036854775807' end as limit`;

/** The differences from a default sequence. */
function sequenceClauses(options: SequenceOptions): string {
  const clauses: [boolean, string][] = [
    [options.step !== "1", ` increment by ${options.step}`],
    [options.lowest !== "1", ` minvalue ${options.lowest}`],
    [options.highest !== options.limit, ` maxvalue ${options.highest}`],
    [options.start !== options.lowest, ` start with ${options.start}`],
    [options.cache !== "1", ` cache ${options.cache}`],
    [options.cycles, " cycle"],
  ];
  return clauses.map(([differs, clause]) => (differs ? clause : "")).join("");
}

async function sequenceOwners(read: Read): Promise<string> {
  const rows = await read<{ name: string; owner: string }>(`
    select pg_class.oid::regclass::text as name,
           pg_depend.refobjid::regclass || '.' || quote_ident(pg_attribute.attname) as owner
      from pg_class
      join pg_depend on pg_depend.objid = pg_class.oid and pg_depend.deptype = 'a'
      join pg_attribute on pg_attribute.attrelid = pg_depend.refobjid and pg_attribute.attnum = pg_depend.refobjsubid
     where ${inSchema} and pg_class.relkind = 'S'
     order by pg_class.relname collate "C"`);
  return rows.map(({ name, owner }) => `alter sequence ${name} owned by ${owner};`).join("\n");
}

async function types(read: Read): Promise<string> {
  const enums = await read<{ name: string; labels: string }>(`
    select pg_type.oid::regtype::text as name,
           string_agg(quote_literal(pg_enum.enumlabel), ', ' order by pg_enum.enumsortorder) as labels
      from pg_type
      join pg_enum on pg_enum.enumtypid = pg_type.oid
     where pg_type.typnamespace = $1::regnamespace
     group by pg_type.oid, pg_type.typname
     order by pg_type.typname collate "C"`);
  const domains = await read<{ name: string; clauses: string }>(`
    select pg_type.oid::regtype::text as name,
           concat_ws(' ', format_type(pg_type.typbasetype, pg_type.typtypmod), 'default ' || pg_type.typdefault,
                     case when pg_type.typnotnull then 'not null' end,
                     (select string_agg('constraint ' || quote_ident(pg_constraint.conname) || ' '
                                        || pg_get_constraintdef(pg_constraint.oid), ' ' order by pg_constraint.conname)
                        from pg_constraint
                       where pg_constraint.contypid = pg_type.oid and pg_constraint.contype = 'c')) as clauses
      from pg_type
     where pg_type.typnamespace = $1::regnamespace and pg_type.typtype = 'd'
     order by pg_type.typname collate "C"`);
  return [
    ...enums.map(({ name, labels }) => `create type ${name} as enum (${labels});`),
    ...domains.map(({ name, clauses }) => `create domain ${name} as ${lowerCase(clauses)};`),
  ].join("\n");
}

/** Bodies are printed unchanged. */
async function functions(read: Read): Promise<string[]> {
  const rows = await read<{ definition: string; name: string }>(`
    select pg_get_functiondef(pg_proc.oid) as definition, $1 || '.' || quote_ident(pg_proc.proname) as name
      from pg_proc
     where pg_proc.pronamespace = $1::regnamespace and pg_proc.prokind in ('f', 'p')
       and not exists (select 1 from pg_depend where pg_depend.objid = pg_proc.oid and pg_depend.deptype = 'e')
     order by pg_proc.proname collate "C", pg_get_function_identity_arguments(pg_proc.oid)`);
  return rows.map(({ definition, name }) => {
    const body = definition.search(/^AS |^BEGIN ATOMIC|^ *RETURN /m);
    const head = definition.slice(0, body).replace(name, name.slice(name.indexOf(".") + 1));
    return `${lowerCase(head)}${definition.slice(body).trimEnd()};`;
  });
}

async function views(read: Read): Promise<string[]> {
  const rows = await read<{ name: string; definition: string; kind: string }>(`
    select pg_class.oid::regclass::text as name, pg_get_viewdef(pg_class.oid) as definition,
           case pg_class.relkind when 'm' then 'materialized view' else 'view' end as kind
      from pg_class
     where ${inSchema} and pg_class.relkind in ('v', 'm')
     order by pg_class.relname collate "C"`);
  return rows.map(({ name, definition, kind }) => `create ${kind} ${name} as\n${lowerCase(definition)}`);
}

/** Foreign keys are last, because two tables may refer to each other. */
async function foreignKeys(read: Read): Promise<string> {
  const rows = await read<{ relation: string; name: string; definition: string }>(`
    select pg_class.oid::regclass::text as relation, quote_ident(pg_constraint.conname) as name,
           pg_get_constraintdef(pg_constraint.oid) as definition
      from pg_constraint
      join pg_class on pg_class.oid = pg_constraint.conrelid
     where ${inSchema} and pg_constraint.contype = 'f' and pg_constraint.conparentid = 0
     order by pg_class.relname collate "C", pg_constraint.conname collate "C"`);
  return rows
    .map(({ relation, name, definition }) => `alter table ${relation} add constraint ${name} ${lowerCase(definition)};`)
    .join("\n");
}

interface TableRow extends pg.QueryResultRow {
  readonly name: string;
  readonly parent: string | null;
  readonly bound: string | null;
  readonly key: string | null;
  readonly options: string | null;
  readonly unlogged: boolean;
}

async function describeTables(read: Read): Promise<string[]> {
  const rows = await read<TableRow>(`
    select pg_class.oid::regclass::text as name, pg_inherits.inhparent::regclass::text as parent,
           pg_get_expr(pg_class.relpartbound, pg_class.oid) as bound, pg_get_partkeydef(pg_class.oid) as key,
           array_to_string(pg_class.reloptions, ', ') as options, pg_class.relpersistence = 'u' as unlogged
      from pg_class
      left join pg_inherits on pg_inherits.inhrelid = pg_class.oid
      left join pg_class as parent on parent.oid = pg_inherits.inhparent
     where ${inSchema} and pg_class.relkind in ('r', 'p')
     order by coalesce(parent.relname, pg_class.relname) collate "C", parent.relname is not null,
              pg_class.relname collate "C"`);
  const [columns, constraints] = [await columnsByTable(read), await constraintsByTable(read)];
  const below = [await indexesByTable(read), await triggersByTable(read), await commentsByTable(read)];
  return rows.map((row) =>
    [
      createTable(row, { columns, constraints }),
      ...below.flatMap((lines) => (lines.get(row.name) ?? []).map((line) => `${line};`)),
    ].join("\n"),
  );
}

function createTable(
  { name, parent, bound, key, options, unlogged }: TableRow,
  { columns, constraints }: { columns: ByTable; constraints: ByTable },
): string {
  const head = `create ${unlogged ? "unlogged " : ""}table ${name}`;
  const tail = `${key === null ? "" : ` partition by ${lowerCase(key)}`}${options === null ? "" : ` with (${options})`};`;
  const own = constraints.get(name) ?? [];
  if (parent !== null && bound !== null) {
    const added = own.length === 0 ? "" : ` (\n${own.map((line) => `  ${line}`).join(",\n")}\n)`;
    return `${head} partition of ${parent}${added} ${lowerCase(bound)}${tail}`;
  }
  const lines = [...(columns.get(name) ?? []), ...own].map((line) => `  ${line}`);
  return `${head} (\n${lines.join(",\n")}\n)${tail}`;
}

function byTable(rows: readonly { relation: string; line: string }[]): ByTable {
  const groups = Map.groupBy(rows, (row) => row.relation);
  return new Map([...groups].map(([relation, group]) => [relation, group.map(({ line }) => line)]));
}

async function columnsByTable(read: Read): Promise<ByTable> {
  const rows = await read<
    SequenceOptions & { relation: string; column: string; clauses: string; expression: string | null; identity: string }
  >(`
    select pg_class.oid::regclass::text as relation,
           quote_ident(pg_attribute.attname) || ' '
             || regexp_replace(format_type(pg_attribute.atttypid, pg_attribute.atttypmod),
                               '^timestamp(.*) with time zone', 'timestamptz\\1') as column,
           case when pg_attribute.attcollation <> pg_type.typcollation
                then ' collate ' || pg_attribute.attcollation::regcollation else '' end
             || case when pg_attribute.attnotnull then ' not null' else '' end as clauses,
           case when pg_attribute.attgenerated <> '' then ' generated always as ('
                  || pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid) || ')'
                  || case pg_attribute.attgenerated when 's' then ' stored' else '' end
                else ' default ' || pg_get_expr(pg_attrdef.adbin, pg_attrdef.adrelid) end as expression,
           case pg_attribute.attidentity when 'a' then ' generated always as identity'
                when 'd' then ' generated by default as identity' else '' end as identity,
           ${sequenceOptions}
      from pg_class
      join pg_attribute on pg_attribute.attrelid = pg_class.oid
      join pg_type on pg_type.oid = pg_attribute.atttypid
      left join pg_attrdef on pg_attrdef.adrelid = pg_class.oid and pg_attrdef.adnum = pg_attribute.attnum
      left join pg_depend on pg_depend.refobjid = pg_class.oid and pg_depend.refobjsubid = pg_attribute.attnum
                         and pg_depend.deptype = 'i' and pg_attribute.attidentity <> ''
      left join pg_sequence on pg_sequence.seqrelid = pg_depend.objid
     where ${inSchema} and pg_class.relkind in ('r', 'p')
       and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
     order by pg_class.oid, pg_attribute.attnum`);
  return byTable(
    rows.map((row) => {
      const options = row.identity === "" ? "" : sequenceClauses(row).trim();
      const identity = `${row.identity}${options === "" ? "" : ` (${options})`}`;
      return {
        relation: row.relation,
        line: `${row.column}${lowerCase(row.clauses + (row.expression ?? ""))}${identity}`,
      };
    }),
  );
}

async function constraintsByTable(read: Read): Promise<ByTable> {
  const rows = await read<{ relation: string; name: string; definition: string }>(`
    select pg_class.oid::regclass::text as relation, quote_ident(pg_constraint.conname) as name,
           pg_get_constraintdef(pg_constraint.oid) as definition
      from pg_constraint
      join pg_class on pg_class.oid = pg_constraint.conrelid
     where ${inSchema}
       and pg_constraint.contype in ('p', 'u', 'c', 'x')
       and pg_constraint.conislocal and pg_constraint.conparentid = 0
     order by array_position(array['p', 'u', 'x', 'c'], pg_constraint.contype::text), pg_constraint.conname collate "C"`);
  return byTable(
    rows.map(({ relation, name, definition }) => ({
      relation,
      line: `constraint ${name} ${lowerCase(definition)}`,
    })),
  );
}

async function indexesByTable(read: Read): Promise<ByTable> {
  const rows = await read<{ relation: string; line: string }>(`
    select pg_class.oid::regclass::text as relation,
           replace(replace(pg_get_indexdef(pg_index.indexrelid), ' ON ONLY ', ' ON '),
                   ' ON ' || quote_ident($1) || '.', ' ON ')
             || case when pg_index.indisvalid then '' else ' /* invalid */' end as line
      from pg_index
      join pg_class on pg_class.oid = pg_index.indrelid
      join pg_class as index on index.oid = pg_index.indexrelid
     where ${inSchema}
       and not index.relispartition
       and not exists (select 1 from pg_constraint
                        where pg_constraint.conindid = index.oid and pg_constraint.contype in ('p', 'u', 'x'))
     order by index.relname collate "C"`);
  return byTable(rows.map(({ relation, line }) => ({ relation, line: lowerCase(line) })));
}

async function triggersByTable(read: Read): Promise<ByTable> {
  const rows = await read<{ relation: string; line: string }>(`
    select pg_class.oid::regclass::text as relation, pg_get_triggerdef(pg_trigger.oid, true) as line
      from pg_trigger
      join pg_class on pg_class.oid = pg_trigger.tgrelid
     where ${inSchema} and not pg_trigger.tgisinternal and pg_trigger.tgparentid = 0
     order by pg_trigger.tgname collate "C"`);
  return byTable(rows.map(({ relation, line }) => ({ relation, line: lowerCase(line) })));
}

async function commentsByTable(read: Read): Promise<ByTable> {
  const rows = await read<{ relation: string; line: string }>(`
    select pg_class.oid::regclass::text as relation,
           'comment on ' || case when pg_attribute.attname is null then 'table ' || pg_class.oid::regclass
                                 else 'column ' || pg_class.oid::regclass || '.' || quote_ident(pg_attribute.attname) end
             || ' is ' || quote_literal(pg_description.description) as line
      from pg_description
      join pg_class on pg_class.oid = pg_description.objoid and pg_description.classoid = 'pg_class'::regclass
      left join pg_attribute on pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum = pg_description.objsubid
                            and pg_description.objsubid > 0
     where ${inSchema} and pg_class.relkind in ('r', 'p')
     order by pg_description.objsubid`);
  return byTable(rows);
}

/** Writes keywords in lower case. Names without quotes are in lower case already. */
function lowerCase(text: string): string {
  return text.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[^'"]+/g, (part) =>
    /^['"]/.test(part) ? part : part.toLowerCase(),
  );
}
