import type { Fault, FieldErrors } from "@tessera/kit/fault";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db, Queryable, Tx } from "@tessera/kit/pg/database";
import type {
  CreateCredentialRequest,
  CreateCredentialResponse,
  ListCredentialsRequest,
  ListCredentialsResponse,
  RevokeCredentialRequest,
  RevokeCredentialResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import type { Reading } from "@tessera/records/read";
import { FieldProblems } from "@tessera/schema/field-problems";
import { fault } from "../faults.ts";
import type { CredentialKind, CredentialRecord } from "../records/credential.ts";
import { credentialKindOf } from "../records/credential-kinds.ts";
import type { Run } from "../records/kind.ts";
import type { BoxofficeEvents } from "../report-events.ts";
import * as credentials from "../store/credential-rows.ts";
import { prepareSetup } from "../store/device-setups.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import * as organizers from "../store/organizers.ts";
import { findMentioned, nothingMentioned } from "../store/references.ts";
import { toCredential } from "../wire/credential-messages.ts";

/** Pages through an organizer's credentials of one kind, revoked ones included. */
export async function listCredentials(
  { organizer, kind: name, ...asked }: ListCredentialsRequest,
  { db }: { db: Db },
): Promise<ListCredentialsResponse> {
  const kind = credentialKindOf(name);
  await requireOrganizer(db, organizer);
  const of = { organizer, kind: kind.name };
  const count = await credentials.count(db, of);
  const { page, limit, offset } = cutPage(asked, count);
  const found = await credentials.page<credentials.StoredFields>(db, { ...of, limit, offset });
  return { credentials: found.map((each) => toCredential(each, kind.toMessage(each.data))), count, page };
}

type Values = Readonly<Record<string, unknown>>;

/** Creates a credential as its record would; a device gets the next number of its organizer. A known token means a repeated request. */
export async function createCredential(
  { organizer, kind: name, tokenHash: bytes, setupHash, fields }: CreateCredentialRequest,
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
    if (kind.numbered !== undefined) await credentials.noteMadeHere(tx, { organizer, id: created.id });
    if (setupHash !== undefined)
      await prepareSetup(tx, { organizer, id: created.id, setupHash: Buffer.from(setupHash) });
    return { credential: created, isNew: true };
  });
  if (isNew) events.credentialCreated({ organizer, kind: kind.name, id: credential.id });
  return { credential: toCredential(credential, kind.toMessage(credential.data)) };
}

/** Stores a new credential by the rules of its records; reports all wrong fields at once. */
async function store(
  tx: Tx,
  kind: CredentialKind,
  { organizer, tokenHash, data }: { organizer: string; tokenHash: Buffer; data: Values },
): Promise<void> {
  const { numbered } = kind;
  const number = numbered === undefined ? {} : { [numbered.field]: await numbered.draw(tx, organizer) };
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

/** Errors of list elements are reported under the name of the list; the message has the index. */
function nameOf(path: string): string {
  return path.replace(/\.\d+$/, "");
}

function invalidFields(fields: FieldErrors): Fault {
  return fault("invalid_credential", `not valid: ${Object.keys(fields).join(", ")}`, { fields });
}

/**
 * Revokes a credential. Its row stays, so that its requests are refused with the reason: a revoked scanner deletes its
 * data of the event. References are not checked: they may have been deleted.
 */
export async function revokeCredential(
  { organizer, kind: name, id }: RevokeCredentialRequest,
  { db, events }: { db: Db; events: BoxofficeEvents },
): Promise<RevokeCredentialResponse> {
  const kind = credentialKindOf(name);
  const { credential, changed } = await db.transaction(async (tx) => {
    await lockOrganizer(tx, organizer);
    const found = await findOne(tx, kind, { organizer, id });
    if (!kind.isActive(found.data)) return { credential: found, changed: false };
    const data = { ...found.data, ...kind.revoked };
    const value = kind.recordOf(found.tokenHash, { data, document: JSON.stringify(data) });
    await kind.store(tx, await runOf(tx, kind, { organizer, value }));
    return { credential: await findOne(tx, kind, { organizer, id: found.id }), changed: true };
  });
  if (changed) events.credentialRevoked({ organizer, kind: kind.name, id: credential.id });
  return { credential: toCredential(credential, kind.toMessage(credential.data)) };
}

async function findOne(
  tx: Tx,
  { name: kind, noun, absent, idPrefix }: CredentialKind,
  { organizer, id }: { organizer: string; id: string },
): Promise<credentials.StoredCredential<credentials.StoredFields>> {
  const prefix = id.toLowerCase();
  const found =
    idPrefix === undefined
      ? await credentials.find<credentials.StoredFields>(tx, { organizer, kind, id })
      : idPrefix.test(prefix)
        ? await credentials.findByPrefix<credentials.StoredFields>(tx, { organizer, kind, prefix })
        : [];
  const [first, ...others] = found;
  if (first === undefined) throw fault(absent, `The organizer has no such ${noun}.`);
  if (others.length > 0)
    throw fault("ambiguous_id", `The ids of several ${noun}s begin like this; send more characters.`);
  return first;
}

/** Excludes batches of the organizer's records until commit. Throws if the organizer does not exist. */
async function lockOrganizer(tx: Tx, organizer: string): Promise<void> {
  await takeLocks(tx, locksOf([{ organizer, event: "" }]));
  await requireOrganizer(tx, organizer);
}

async function requireOrganizer(db: Queryable, organizer: string): Promise<void> {
  if (!(await organizers.exists(db, organizer))) throw fault("organizer_not_found", "There is no such organizer.");
}

/** Makes a run of one credential, which is stored and published as its record would be. */
async function runOf(
  tx: Tx,
  kind: CredentialKind,
  { organizer, value }: { organizer: string; value: CredentialRecord },
): Promise<Run<CredentialRecord>> {
  const scope = { organizer, event: "" };
  const mentioned = nothingMentioned();
  kind.mention?.(value, mentioned);
  return { scope, values: [value], known: await findMentioned(tx, scope, mentioned) };
}
