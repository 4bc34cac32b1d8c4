import type { Clock } from "@tessera/kit/clock";
import type { Call, Client } from "@tessera/kit/rpc";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import type {
  AnswerPicture,
  EvaluatedTicket,
  EvaluateVariablesRequest,
  EvaluateVariablesResponse,
} from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import type { FirstEntries, TicketData } from "@tessera/protos/services";
import { evaluateAll } from "../domain/elements/resolve-elements.ts";
import type { Formats } from "../domain/formats/formats.ts";
import { fault } from "../faults.ts";
import { findScans } from "../printing/first-entries.ts";
import { readTicketsOf } from "../printing/ticket-data.ts";

const mostPositions = 100;

/** The limit of an answer, which has at most 16 MiB: an event may have megabytes of its own texts on each ticket. */
const mostLetters = 4_000_000;

/** A gate waits half a second for all variables. */
const patienceMs = 250;

/** Evaluates all variables of tickets (L10.11). */
export async function evaluateVariables(
  { organizer, event, positions }: EvaluateVariablesRequest,
  {
    ticketData,
    firstEntries,
    formats,
    clock,
  }: {
    readonly ticketData: Client<TicketData>;
    readonly firstEntries: Client<FirstEntries>;
    readonly formats: Formats;
    readonly clock: Clock;
  },
  { signal }: Call,
): Promise<EvaluateVariablesResponse> {
  if (positions.length > mostPositions) throw fault("too_many_parts", `Name at most ${mostPositions} tickets.`);
  const place = { organizer, event, signal };
  const [tickets, scans] = await Promise.all([
    readTicketsOf(ticketData, place, [...new Set(positions)]),
    findScans(firstEntries, { ...place, patienceMs }, positions),
  ]);
  const now = clock.now();
  const evaluated: EvaluatedTicket[] = [];
  let left = mostLetters;
  await inSlices(tickets, ([position, ticket]) => {
    if (left < 0) return;
    const { texts, images } = evaluateAll({ ...ticket, scans }, { now, formats });
    for (const [name, text] of texts) left -= name.length + text.length;
    if (left < 0) return;
    const pictures = Array.from(images, ([name, image]): [string, AnswerPicture] => [
      name,
      { owner: image?.position ?? 0, question: image?.question ?? 0 },
    ]);
    evaluated.push({ position, texts: Object.fromEntries(texts), images: Object.fromEntries(pictures) });
  });
  return { tickets: evaluated };
}
