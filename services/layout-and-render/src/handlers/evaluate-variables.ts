import type { Clock } from "@tessera/kit/clock";
import type { Call, Client } from "@tessera/kit/rpc";
import type {
  AnswerPicture,
  EvaluateVariablesRequest,
  EvaluateVariablesResponse,
} from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import type { TicketData } from "@tessera/protos/services";
import { evaluateAll } from "../domain/elements/resolve-elements.ts";
import type { Formats } from "../domain/formats/formats.ts";
import { fault } from "../faults.ts";
import { readTicketsOf } from "../ticket-data.ts";

const mostPositions = 100;

/** Evaluates all variables of tickets (source: behaviour-layouts 6.5). */
export async function evaluateVariables(
  { organizer, event, positions }: EvaluateVariablesRequest,
  {
    ticketData,
    formats,
    clock,
  }: { readonly ticketData: Client<TicketData>; readonly formats: Formats; readonly clock: Clock },
  { signal }: Call,
): Promise<EvaluateVariablesResponse> {
  if (positions.length > mostPositions) throw fault("too_many_parts", `Name at most ${mostPositions} tickets.`);
  const tickets = await readTicketsOf(ticketData, { organizer, event, signal }, [...new Set(positions)]);
  const now = clock.now();
  return {
    tickets: Array.from(tickets, ([position, ticket]) => {
      const { texts, images } = evaluateAll(ticket, { now, formats });
      const pictures = Array.from(images, ([name, image]): [string, AnswerPicture] => [
        name,
        { owner: image?.position ?? 0, question: image?.question ?? 0 },
      ]);
      return { position, texts: Object.fromEntries(texts), images: Object.fromEntries(pictures) };
    }),
  };
}
