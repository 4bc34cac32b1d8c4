import { Fault, type FaultDetails, type FaultKind } from "./fault.ts";

/** The codes of the kit and of its engines, and those for a peer that sends no code. */
const kitCodes = {
  address_unavailable: "unmet",
  answer_erased: "not_found",
  bus_closed: "unavailable",
  bus_fenced: "unavailable",
  bus_unavailable: "unavailable",
  certificate_unusable: "unmet",
  check_timeout: "timeout",
  concurrent_change: "conflict",
  configuration_invalid: "invalid",
  conflict: "conflict",
  content_type_invalid: "invalid",
  data_directory_not_writable: "unmet",
  database_busy: "unavailable",
  database_full: "unavailable",
  database_timeout: "timeout",
  database_unavailable: "unavailable",
  deadline_exceeded: "timeout",
  embedded_database_missing: "unmet",
  exhausted: "exhausted",
  fact_overtaken: "unmet",
  fact_too_large: "invalid",
  facts_parked: "unmet",
  file_key_invalid: "invalid",
  files_unavailable: "unavailable",
  forbidden: "forbidden",
  invalid_filter: "invalid",
  invalid_mask: "invalid",
  invalid_request: "invalid",
  locked: "conflict",
  message_refused: "unmet",
  message_too_large: "unmet",
  migration_changed: "unmet",
  migration_failed: "unmet",
  not_a_fact: "invalid",
  not_found: "not_found",
  page_not_found: "not_found",
  peer_refuses: "unavailable",
  peer_unavailable: "unavailable",
  port_forbidden: "unmet",
  port_in_use: "unmet",
  range_outside_file: "invalid",
  schema_missing: "unmet",
  schema_too_new: "unmet",
  schema_too_old: "unmet",
  topic_missing: "unmet",
  too_many_reads: "exhausted",
  too_many_files: "exhausted",
  too_much_work: "exhausted",
  unmet: "unmet",
} as const satisfies Readonly<Record<string, FaultKind>>;

export type KitFault = keyof typeof kitCodes;

/** Makes a fault of a code, which decides the kind, and of a sentence for people. */
export interface MakeFault<Code extends string> {
  (code: Code, message: string, more?: FaultDetails): Fault;
  readonly codes: Readonly<Record<string, FaultKind>>;
}

/** Declares the codes of one owner, each with its kind. The kit's codes are added. docs/faults.md explains every code. */
export function faultCodes<Code extends string>(
  codes: Readonly<Record<Code, FaultKind>> & { readonly [taken in KitFault]?: never },
): MakeFault<Code | KitFault> {
  const kinds: Readonly<Record<Code | KitFault, FaultKind>> = { ...kitCodes, ...codes };
  const make = (code: Code | KitFault, message: string, more?: FaultDetails) =>
    new Fault(kinds[code], code, message, more);
  return Object.assign(make, { codes });
}

export const fault: MakeFault<KitFault> = Object.assign(faultCodes({}), { codes: kitCodes });
