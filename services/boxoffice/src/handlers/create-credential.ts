import type { Fault, FieldErrors } from "@tessera/kit/fault";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type {
  CreateCredentialRequest,
  CreateCredentialResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { Reading } from "@tessera/records/read";
import { FieldProblems } from "@tessera/schema/field-problems";
import { fault } from "../faults.ts";
import type { CredentialKind } from "../records/credential.ts";
import { credentialKindOf } from "../records/credential-kinds.ts";
import type { BoxofficeEvents } from "../report-events.ts";
import * as credentials from "../store/credentials.ts";
import * as ids from "../store/id-sequences.ts";
import { toCredential } from "../wire/credential-messages.ts";
import { lockOrganizer, runOf } from "./store-credential.ts";

type Values = Readonly<Record<string, unknown>>;

/**
 * Creates a credential as its record would; a device gets the next number. A token that is already stored means a repeated
 * request, which changes nothing.
 */
export async function createCredential(
  { organizer, kind: name, tokenHash: bytes, fields }: CreateCredentialRequest,
  { db, events }: { db: Db; events: BoxofficeEvents },
): Promise<CreateCredentialResponse> {
  const kind = credentialKindOf(name);
  const data = fields && kind.toData(fields);
  if (data === undefined) throw new Error(`a ${kind.noun} was sent without its fields`);
  if (bytes.length !== 32) throw fault("bad_token_hash", "A token is sent as its SHA-256.");
  const tokenHash = Buffer.from(bytes);
  const { credential, isNew } = await db.transaction(async (tx) => {
    await lockOrganizer(tx, organizer);
    const find = () => credentials.findByToken<credentials.StoredFields>(tx, { organizer, kind: kind.name, tokenHash });
    const before = await find();
    if (before !== undefined) return { credential: before, isNew: false };
    await store(tx, kind, { organizer, tokenHash, data });
    const created = await find();
    if (created === undefined) throw new Error("the created credential is missing");
    return { credential: created, isNew: true };
  });
  if (isNew) events.credentialCreated({ organizer, kind: kind.name, id: credential.id });
  return { credential: toCredential(credential, kind.toMessage(credential.data)) };
}

/** Stores a new credential by the rules of its records; names all wrong fields at once. */
async function store(
  tx: Tx,
  kind: CredentialKind,
  { organizer, tokenHash, data }: { organizer: string; tokenHash: Buffer; data: Values },
): Promise<void> {
  const number = kind.numbered === undefined ? {} : { [kind.numbered.field]: await ids.next(tx, kind.numbered.by) };
  const { reading, errors } = readFields(kind, { ...number, ...data });
  const value = kind.recordOf(tokenHash, reading);
  const run = await runOf(tx, kind, { organizer, value });
  const refused = await kind.refuse?.(tx, { ...run, behind: [] });
  const problems = new FieldProblems();
  for (const [path, messages] of [...Object.entries(errors), ...Object.entries(refused?.get(value) ?? {})])
    for (const message of messages) problems.add(nameOf(path), message);
  if (!problems.isEmpty) throw invalidFields(problems.toErrors());
  await kind.store(tx, run);
}

/** Reads fields. Wrong ones get their defaults, so that errors in other fields are found as well. */
function readFields(
  kind: CredentialKind,
  data: Values,
): { reading: Reading<credentials.StoredFields>; errors: FieldErrors } {
  const whole = kind.readFields({ ...data });
  if (whole.ok) return { reading: whole.value, errors: {} };
  const wrong = new Set(Object.keys(whole.errors).map((path) => path.split(".")[0]));
  const rest = kind.readFields(Object.fromEntries(Object.entries(data).filter(([field]) => !wrong.has(field))));
  if (!rest.ok) throw invalidFields(whole.errors);
  return { reading: rest.value, errors: whole.errors };
}

/** The elements of a list are reported under its name; the message has their number. */
function nameOf(path: string): string {
  return path.replace(/\.\d+$/, "");
}

function invalidFields(fields: FieldErrors): Fault {
  return fault("invalid_credential", `not valid: ${Object.keys(fields).join(", ")}`, { fields });
}
