import type { Localized } from "@tessera/values";
import type { Exchange } from "./read-medium.ts";

/** A scan as the server stored it. */
export interface PastScan {
  readonly datetime: string;
  readonly type: "entry" | "exit";
  readonly gate: number | null;
  readonly device_id: number | null;
}

/** What a crew sees of a ticket. */
export interface Ticket {
  readonly id: number;
  readonly order: string;
  readonly product: Localized | string;
  readonly variation: Localized | string | undefined;
  readonly name: string | undefined;
  readonly seat: string | undefined;
  /** Empty: this device may not know it. */
  readonly secret: string;
  readonly status: string;
  readonly checkins: readonly PastScan[];
}

export interface Question {
  readonly id: number;
  readonly question: Localized;
  readonly type: string;
  readonly required: boolean;
  readonly help_text?: Localized | null;
  readonly options: readonly { readonly id: number; readonly answer: Localized }[];
}

/** What the server decided about a scan. */
export interface Verdict {
  readonly kind: "admitted" | "refused" | "questions" | "exchange";
  /** Of a refusal, for programs. */
  readonly reason: string;
  readonly explanation: string | undefined;
  readonly attention: boolean;
  readonly texts: readonly string[];
  readonly ticket: Ticket | undefined;
  readonly questions: readonly Question[];
  /** Whether the list admits orders that are not paid. */
  readonly includesPending: boolean;
  /** This page decided it, without the server. */
  readonly isHere?: boolean;
  /** What the ticket has to be exchanged for; undefined: nothing. */
  readonly exchange?: Exchange | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : {});
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Reads the answer to a scan; undefined: the server has decided nothing. */
export function readVerdict(body: unknown): Verdict | undefined {
  const { status, reason, reason_explanation: explanation, ...more } = fieldsIn(body);
  const kind = kinds[String(status)];
  if (kind === undefined) return undefined;
  return {
    kind,
    reason: textIn(reason) ?? "",
    explanation: textIn(explanation),
    attention: more["require_attention"] === true,
    texts: listIn(more["checkin_texts"]).flatMap((text) => textIn(text) ?? []),
    ticket: readTicket(more["position"]),
    questions: listIn(more["questions"]) as readonly Question[],
    includesPending: fieldsIn(more["list"])["include_pending"] === true,
    ...(kind === "exchange" ? { exchange: readExchange(more) } : {}),
  };
}

function readExchange(shown: Fields): Exchange | undefined {
  const [policy, type] = [textIn(shown["media_policy"]), textIn(shown["media_type"])];
  return policy === undefined || type === undefined ? undefined : { policy, type };
}

const kinds: Readonly<Record<string, Verdict["kind"]>> = {
  ok: "admitted",
  error: "refused",
  incomplete: "questions",
  exchange: "exchange",
};

/** Reads a ticket as scans and searches show it. */
export function readTicket(position: unknown): Ticket | undefined {
  if (!isFields(position) || typeof position["id"] !== "number") return undefined;
  const { item, variation, seat } = position;
  return {
    id: position["id"],
    order: textIn(position["order"]) ?? "",
    product: (fieldsIn(item)["name"] as Localized | undefined) ?? "",
    variation: fieldsIn(variation)["value"] as Localized | undefined,
    name: textIn(position["attendee_name"]),
    seat: textIn(fieldsIn(seat)["name"]),
    secret: textIn(position["secret"]) ?? "",
    status: textIn(position["order__status"]) ?? "",
    checkins: listIn(position["checkins"]) as readonly PastScan[],
  };
}

/** Reasons that a supervisor may override. All others leave open which ticket it is, or are of media. */
const overridable: ReadonlySet<string> = new Set([
  ...["already_redeemed", "blocked", "canceled", "invalid_time", "product", "revoked", "rules", "unapproved", "unpaid"],
]);

/** What a crew may do about a refusal. */
export function offersOf(
  { kind, reason, includesPending }: Verdict,
  may: { readonly unpaid: boolean; readonly supervise: boolean },
): { readonly unpaid: boolean; readonly override: boolean } {
  const isRefused = kind === "refused";
  const unpaid = isRefused && reason === "unpaid" && includesPending && may.unpaid;
  return { unpaid, override: isRefused && may.supervise && overridable.has(reason) && !unpaid };
}
