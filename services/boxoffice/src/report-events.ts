import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { Scope } from "./domain/scope.ts";
import type { CredentialKind } from "./store/credential-rows.ts";
import type { AnswerPlace } from "./store/stored-answer-files.ts";

interface CredentialPlace {
  readonly organizer: string;
  readonly kind: CredentialKind;
  readonly id: string;
}

interface SalePlace extends Scope {
  readonly sale: string;
  readonly tickets: number;
}

const nouns: Readonly<Record<CredentialKind, string>> = { api_key: "an API key", device: "a device" };

/** The id of an API key is the hash of its token. A prefix is enough to find the key. */
const keyCharacters = 8;

export type BoxofficeEvents = ReturnType<typeof reportEvents>;

/** Log lines and counters for operators and statistics. None contains a token, secret or name. */
export function reportEvents({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }) {
  const credentials = metrics.counter(
    "boxoffice_credential_changes_total",
    "API keys and devices created, set up or revoked.",
    ["kind", "change"],
  );
  const lostFiles = metrics.counter(
    "boxoffice_gate_files_lost_total",
    "Files given at a gate that were deleted before they were copied.",
  );

  const ticketsSold = metrics.counter(
    "boxoffice_tickets_sold_total",
    "Tickets sold, and tickets of sales that were canceled.",
    ["change"],
  );

  function saleChanged(change: "sold" | "canceled", { organizer, event, sale, tickets }: SalePlace): void {
    ticketsSold.add({ change }, tickets);
    log.info(`tickets of a sale were ${change}`, { organizer, event, sale, tickets });
  }

  function credentialChanged(change: "created" | "set up" | "revoked", { organizer, kind, id }: CredentialPlace): void {
    credentials.add({ kind, change });
    const loggedId = kind === "api_key" ? id.slice(0, keyCharacters) : id;
    log.info(`${nouns[kind]} was ${change}`, { organizer, kind, id: loggedId });
  }

  return {
    credentialCreated: (credential: CredentialPlace) => credentialChanged("created", credential),
    deviceSetUp: (place: Pick<CredentialPlace, "organizer" | "id">) =>
      credentialChanged("set up", { ...place, kind: "device" }),
    credentialRevoked: (credential: CredentialPlace) => credentialChanged("revoked", credential),
    saleMade: (sale: SalePlace) => saleChanged("sold", sale),
    saleCanceled: (sale: SalePlace) => saleChanged("canceled", sale),
    gateFileLost({ organizer, event, position, question }: Scope & AnswerPlace) {
      lostFiles.add();
      const place = { organizer, event, position, question };
      log.warn("the file of an answer was deleted before it was copied; the answer before it stays", place);
    },
  };
}
