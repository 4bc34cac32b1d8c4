import { formatInstant } from "@tessera/values";
import type { ServiceParts } from "./progress.ts";

/** A case that has ended well. Instants are microseconds since 1970. */
export interface ErasedCase {
  readonly organizer: string;
  readonly event: string;
  readonly id: string;
  readonly instance: string;
  readonly kinds: readonly string[];
  readonly exportSha256: string;
  readonly exportedAt: number;
  readonly exportMadeAt: number | null;
  /** The kind and the id of a credential. */
  readonly requestedBy: string | null;
  readonly requestedAt: number;
  readonly erasedAt: number;
  readonly parts: readonly ServiceParts[];
}

/** Writes what a certificate states, as the JSON text that is signed. */
export function writeStatement(erased: ErasedCase): string {
  const { organizer, event, id, instance, kinds, exportSha256, parts } = erased;
  return JSON.stringify({
    type: "tessera.erasure.v1",
    instance,
    organizer,
    event,
    case: id,
    shredders: kinds,
    exported: formatInstant(erased.exportedAt),
    export_made: erased.exportMadeAt === null ? null : formatInstant(erased.exportMadeAt),
    export_sha256: exportSha256,
    requested: formatInstant(erased.requestedAt),
    requested_by: erased.requestedBy,
    erased: formatInstant(erased.erasedAt),
    services: parts.map(({ service, parts: counts, kept }) => ({
      service,
      erased: counts.map(({ kind, holding, count }) => ({ shredder: kind, holding, count })),
      kept: kept.map(({ holding, reason }) => ({ holding, reason })),
    })),
  });
}
