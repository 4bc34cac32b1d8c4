import { type Answer, OrderStatus, Seat } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Checkin, ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { fields, type Shown } from "@tessera/schema/fields";
import { formatInstant } from "@tessera/values";
import { type EventAddress, eventUrl } from "../../http/event-url.ts";
import { nameScanType } from "../checkins/scan-type.ts";
import { type Expansion, type Resources, readResources } from "./expand.ts";
import { presentPrint } from "./print.ts";
import { type checkinFields, seat } from "./schema.ts";

/** The API's letter of an order status. An unknown status of a newer service counts as one that does not admit. */
const statusLetters: ReadonlyMap<string, string> = new Map([
  [OrderStatus.PENDING, "n"],
  [OrderStatus.PAID, "p"],
  [OrderStatus.EXPIRED, "e"],
]);
const canceled = "c";

export const seats = fields(seat, Seat);

/** Presents a position as a check-in list sees it, with the expanded resources. */
export function presentPosition(listed: ListedPosition | undefined, address: EventAddress, expansion: Expansion) {
  return present(listed, address, { ...expansion, resources: readResources(expansion, address) });
}

/** Presents several positions; their expanded resources are read once. */
export function presentPositions(listed: readonly ListedPosition[], address: EventAddress, expansion: Expansion) {
  const resources = readResources(expansion, address);
  return listed.map((each) => present(each, address, { ...expansion, resources }));
}

interface Expanded extends Pick<Expansion, "names" | "pdfData" | "prints"> {
  readonly resources: Resources;
}

/** With `expand=addons` clients expect `addons` in each position, and in each add-on, too. */
function present(listed: ListedPosition | undefined, address: EventAddress, expanded: Expanded) {
  return {
    ...presentAlone(listed, address, expanded),
    ...(expanded.pdfData === undefined ? {} : { pdf_data: expanded.pdfData.get(listed?.position?.id ?? 0) ?? {} }),
    ...(expanded.names.includes("addons")
      ? {
          addons: (listed?.addons ?? []).map((addon) => ({ ...presentAlone(addon, address, expanded), addons: [] })),
        }
      : {}),
  };
}

function presentAlone(listed: ListedPosition | undefined, address: EventAddress, { resources, prints }: Expanded) {
  const { position } = listed ?? {};
  if (listed === undefined || position?.order === undefined)
    throw new Error("checkin answered without a position or its order");
  const { order } = position;
  return {
    id: position.id,
    order: order.code,
    positionid: position.positionid,
    item: resources.item(position.item),
    variation:
      position.variation === undefined ? null : resources.variation({ item: position.item, id: position.variation }),
    price: position.price,
    attendee_name: listed.attendeeName ?? null,
    attendee_name_parts: listed.attendeeNameParts,
    company: position.company ?? null,
    street: position.street ?? null,
    zipcode: position.zipcode ?? null,
    city: position.city ?? null,
    country: position.country ?? null,
    state: position.state ?? null,
    attendee_email: position.attendeeEmail ?? null,
    voucher: position.voucher ?? null,
    tax_rate: position.taxRate,
    tax_value: position.taxValue,
    secret: position.secret,
    addon_to: position.addonTo ?? null,
    subevent: position.subevent === undefined ? null : resources.subevent(position.subevent),
    checkins: listed.checkins.map(presentCheckin),
    print_logs: (prints.get(position.id) ?? []).map(presentPrint),
    downloads: presentDownloads(listed.downloads, position.id, address),
    answers: position.answers.map((answer) => ({
      ...presentAnswer(answer, position.id, address),
      question: resources.question(answer.question),
    })),
    tax_rule: position.taxRule ?? null,
    pseudonymization_id: position.pseudonymizationId,
    seat: position.seat === undefined ? null : seats.present(position.seat),
    require_attention: listed.requireAttention,
    order__status: statusLetters.get(order.status) ?? canceled,
    order__valid_if_pending: order.validIfPending,
    order__require_approval: order.requireApproval,
    order__locale: order.locale,
    valid_from: position.validFrom === undefined ? null : formatInstant(position.validFrom),
    valid_until: position.validUntil === undefined ? null : formatInstant(position.validUntil),
    blocked: position.blocked.length === 0 ? null : position.blocked,
  };
}

export function presentCheckin(checkin: Checkin): Shown<typeof checkinFields> {
  return {
    id: checkin.id,
    datetime: formatInstant(checkin.at),
    list: checkin.list,
    auto_checked_in: checkin.autoCheckedIn,
    gate: checkin.gate ?? null,
    device: checkin.device ?? null,
    device_id: checkin.deviceId ?? null,
    type: nameScanType(checkin.type),
  };
}

/** Presents outputs of a position with the addresses of their files. */
export function presentDownloads(outputs: readonly string[], position: number, address: EventAddress) {
  return outputs.map((output) => ({ output, url: eventUrl(address, "orderpositions", position, "download", output) }));
}

export function presentAnswer(answer: Answer, position: number, address: EventAddress) {
  return {
    question: answer.question,
    answer:
      answer.file === true ? eventUrl(address, "orderpositions", position, "answer", answer.question) : answer.answer,
    question_identifier: answer.questionIdentifier,
    options: answer.options,
    option_identifiers: answer.optionIdentifiers,
  };
}

/** The positions that an answer shows, add-ons included. */
export function idsOf(listed: readonly ListedPosition[]): number[] {
  return listed.flatMap(({ position, addons }) => [...(position === undefined ? [] : [position.id]), ...idsOf(addons)]);
}
