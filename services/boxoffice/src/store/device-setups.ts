import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { StoredCredential } from "./credential-rows.ts";

/** What a scanner said of itself, and the serial number that it got. */
export interface Machine {
  readonly serial: string;
  readonly hardware_brand: string;
  readonly hardware_model: string;
  readonly os_name: string;
  readonly os_version: string;
  readonly software_brand: string;
  readonly software_version: string;
}

/** A device, and how far it is set up. */
export interface StoredMachine<T> extends StoredCredential<T> {
  readonly organizer: string;
  readonly machine: Machine | null;
  readonly gateName: string | null;
  /** Its code works no more: it is too old. */
  readonly isExpired: boolean;
}

/** How long a code works. */
const setUpWithin = sql`interval '7 days'`;

/**
 * Draws the next number of a device, above those of all its organizer's devices. The update of the organizer's row serializes
 * transactions that draw.
 */
export async function drawNumber(tx: Tx, organizer: string): Promise<number> {
  const { number } = await tx.one<{ number: number }>(sql`
    update organizer
       set last_device = 1 + greatest(organizer.last_device, (
             select max((credential.data ->> 'device_id')::bigint)
               from credential
              where credential.organizer = ${organizer}
                and credential.kind = 'device'))
     where organizer.slug = ${organizer}
    returning organizer.last_device as number`);
  return number;
}

/** Gives a device the code with which a scanner can set itself up. */
export async function prepareSetup(
  tx: Tx,
  { organizer, id, setupHash }: { readonly organizer: string; readonly id: string; readonly setupHash: Buffer },
): Promise<void> {
  await tx.run(sql`
    update credential
       set setup_hash = ${setupHash},
           setup_until_at = clock_timestamp() + ${setUpWithin}
     where credential.organizer = ${organizer}
       and credential.kind = 'device'
       and credential.id = ${id}`);
}

/** Finds the organizer and number of the device that a code sets up. */
export function findBySetup(
  db: Queryable,
  setupHash: Buffer,
): Promise<{ readonly organizer: string; readonly id: string } | undefined> {
  return db.maybeOne(sql`
    select credential.organizer, credential.id
      from credential
     where credential.setup_hash = ${setupHash}`);
}

/** Finds a device by its number. */
export function findDevice<T>(
  db: Queryable,
  { organizer, id }: { readonly organizer: string; readonly id: string },
): Promise<StoredMachine<T> | undefined> {
  return db.maybeOne<StoredMachine<T>>(sql`
    select credential.organizer, credential.id, credential.token_hash as "tokenHash", credential.data, credential.revision,
           credential.machine, gate.data ->> 'name' as "gateName",
           credential.setup_until_at is not null and credential.setup_until_at < clock_timestamp() as "isExpired"
      from credential
      left join gate
        on gate.organizer = credential.organizer
       and gate.id = (credential.data ->> 'gate')::bigint
     where credential.organizer = ${organizer}
       and credential.kind = 'device'
       and credential.id = ${id}`);
}

/** Notes what a scanner says of itself, and its token if it gets another one. */
export async function storeMachine(
  tx: Tx,
  {
    organizer,
    id,
    machine,
    tokenHash,
  }: {
    readonly organizer: string;
    readonly id: string;
    readonly machine: Machine;
    readonly tokenHash: Buffer | null;
  },
): Promise<void> {
  await tx.run(sql`
    update credential
       set machine = ${JSON.stringify(machine)}::jsonb,
           token_hash = ${tokenHash},
           data = credential.data || ${JSON.stringify({ software_brand: machine.software_brand })}::jsonb,
           revision = nextval('revision_seq')
     where credential.organizer = ${organizer}
       and credential.kind = 'device'
       and credential.id = ${id}`);
}
