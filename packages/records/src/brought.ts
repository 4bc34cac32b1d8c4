import type { BroughtEntity } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { Brought, KnownScope, RecordOwner } from "./kind.ts";

/** The data of an entity that a validated record brings, for services that refer to it. */
export interface SharedData {
  readonly event: { readonly isSeries: boolean };
  readonly item: { readonly variations: readonly number[] };
}

/** What a kind brings whose data other services read, too. */
export type BroughtAs<K extends keyof SharedData> = Brought & { readonly data: SharedData[K] };

/** Undefined: the entity is of another kind. */
export function readShared<K extends keyof SharedData>(entity: BroughtEntity, kind: K): SharedData[K] | undefined {
  return entity.kind === kind ? (JSON.parse(entity.data) as SharedData[K]) : undefined;
}

/** Makes the `recall` of an owner whose records refer to entities of their own event: `add` is given those alone. */
export function recallOfEvent<Known extends KnownScope>(
  add: (known: Known, entities: readonly BroughtEntity[]) => Partial<Known>,
): RecordOwner<unknown, Known>["recall"] {
  return (known, { organizer, event }, brought) => {
    const own = brought.filter((entity) => entity.organizer === organizer);
    const itself = own.findLast(({ kind, key }) => kind === "event" && key === event);
    const { isSeries = known.series } = (itself && readShared(itself, "event")) ?? {};
    const entities = own.filter((entity) => entity.event === event);
    return { ...known, series: isSeries, ...add(known, entities) };
  };
}

/** Adds the ids of the entities of a kind. */
export function addIds(
  known: ReadonlySet<number>,
  kind: string,
  entities: readonly BroughtEntity[],
): ReadonlySet<number> {
  return new Set([...known, ...entities.filter((entity) => entity.kind === kind).map(({ key }) => Number(key))]);
}
