import type {
  OrderDocument,
  OrderedPosition,
  OrderPositionDocument,
  Print,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import type { CheckinsOfPosition } from "@tessera/protos/gen/ticketing/checkin/v1/order_checkins";
import { formatInstant } from "@tessera/values";
import { readJson } from "../../body/read-json.ts";
import type { EventAddress } from "../../http/event-url.ts";
import type { Shown } from "../../http/without-fields.ts";
import type { PdfData } from "../listed-positions/pdf-data.ts";
import { presentAnswer, presentCheckin, presentDownloads, seats } from "../listed-positions/present.ts";
import { presentPrint } from "../listed-positions/print.ts";
import type { PrintBody } from "./schema.ts";

/** What orders show of other services. */
export interface Beside {
  readonly address: EventAddress;
  readonly checkins: ReadonlyMap<number, CheckinsOfPosition>;
  /** Undefined: not requested. */
  readonly pdfData: PdfData | undefined;
}

/** What shops show of orders, and no record brings. */
export const notKnownHere = {
  ...{ downloads: [], payments: [], refunds: [], payment_date: null, payment_provider: null },
  ...{ url: null, plugin_data: {} },
};

/** Presents an order as its record sent it, with what became of its positions here. */
export function presentOrder({ json, changedAt, positions }: OrderDocument, beside: Beside): Shown {
  const data = readJson(json) as Shown;
  const documents = data["positions"] as readonly Shown[];
  const scannedAt = positions.map(({ position }) => beside.checkins.get(position?.id ?? 0)?.createdAt ?? 0);
  return {
    ...data,
    event: beside.address.event,
    positions: positions.map((position, index) => present(documents[index], position, beside)),
    last_modified: formatInstant(Math.max(changedAt, ...scannedAt)),
    ...notKnownHere,
  };
}

export function presentOrderPosition({ json, position }: OrderPositionDocument, beside: Beside): Shown {
  return present(readJson(json) as Shown, position, beside);
}

function present(
  data: Shown | undefined,
  ordered: OrderedPosition | undefined,
  { address, checkins, pdfData }: Beside,
): Shown {
  const { position } = ordered ?? {};
  if (data === undefined || ordered === undefined || position?.order === undefined)
    throw new Error("boxoffice answered without a position or its order");
  return {
    ...data,
    order: position.order.code,
    attendee_name: position.attendeeName ?? null,
    attendee_name_parts: position.attendeeNameParts,
    seat: position.seat === undefined ? null : seats.present(position.seat),
    answers: position.answers.map((answer) => presentAnswer(answer, position.id, address)),
    checkins: (checkins.get(position.id)?.checkins ?? []).map(presentCheckin),
    print_logs: ordered.prints.map(presentPrint),
    downloads: presentDownloads(ordered.downloads, position.id, address),
    plugin_data: {},
    ...(pdfData === undefined ? {} : { pdf_data: pdfData.get(position.id) ?? {} }),
  };
}

export function toPrint(body: PrintBody, deviceId: number | undefined): Print {
  return {
    id: 0,
    successful: body.successful ?? true,
    at: body.datetime ?? undefined,
    source: body.source,
    type: body.type,
    deviceId,
    info: Buffer.from(JSON.stringify({ ...body.info })),
  };
}
