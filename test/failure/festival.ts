import type { Dice } from "@tessera/testkit/dice";
import {
  apiKey,
  deviceKey,
  groundwork,
  listData,
  ofEvent,
  ofOrganizer,
  orderData,
  positionData,
} from "../e2e/sample-records.ts";
import type { ShownPosition } from "./check-records.ts";
import type { ListTerms } from "./check-scans.ts";

export { apiKey, deviceKey };

export interface Ticket {
  readonly position: number;
  readonly secret: string;
}

interface FestivalList extends ListTerms {
  readonly includePending: boolean;
}

/** One list of each kind, all with all products. */
export const lists = {
  once: { id: 1, allowMultipleEntries: false, allowEntryAfterExit: false, includePending: false },
  again: { id: 2, allowMultipleEntries: false, allowEntryAfterExit: true, includePending: true },
  often: { id: 3, allowMultipleEntries: true, allowEntryAfterExit: false, includePending: false },
} as const satisfies Record<string, FestivalList>;

/** A complete state of orders and keys, as records with intermediate states. */
export interface Edition {
  /** NDJSON. Sending it again, also after an interruption, leads to the same state. */
  readonly body: string;
  readonly lines: number;
  /** Every position that exists in the end. */
  readonly positions: ReadonlyMap<number, ShownPosition>;
  /** Which of the changing keys are accepted in the end. */
  readonly keys: ReadonlyMap<string, boolean>;
}

export interface Festival {
  /** The first records: keys, catalogue, lists, and the tickets that are always valid. */
  readonly groundwork: string;
  /** Always valid, though their names and products change. */
  readonly tickets: readonly Ticket[];
  /** Always valid, and not scanned by the gates. */
  readonly spare: readonly Ticket[];
  /** Deleted and created again at times. */
  readonly fleeting: readonly Ticket[];
  edition(dice: Dice): Edition;
}

export interface FestivalSize {
  readonly tickets?: number;
  readonly orders?: number;
}

/** The list whose limit is reached, by the first visitors. */
export const nearLimit = lists.once.id;

const spareCount = 30;
const fleetingCount = 40;
const firstFleeting = 500_001;
const firstOrder = 600_001;
const changingKeys = Array.from({ length: 8 }, (_, index) => `changing-key-${index}-${"k".repeat(40)}`);

/** The state of an order at some moment; null: it is deleted. */
type State = { readonly data: Record<string, unknown>; readonly positions: readonly ShownPosition[] } | null;

/** Generates a festival; its editions differ. */
export function planFestival({ tickets: ticketCount = 600, orders: orderCount = 2400 }: FestivalSize = {}): Festival {
  const toTicket = (position: number) => ({ position, secret: `gate ticket/${position}` });
  const tickets = range(ticketCount, 1).map(toTicket);
  const fleeting = range(fleetingCount, firstFleeting).map((position) => ({
    position,
    secret: `fleeting-${position}`,
  }));
  const spare = range(spareCount, ticketCount + 1).map(toTicket);
  const start = [...tickets, ...spare].map((ticket) => toOrder("G", [toPosition(ticket.position, { ticket })]));
  return {
    groundwork: toLines([
      ...groundwork(),
      ...Object.values(lists).map(({ id, allowMultipleEntries, allowEntryAfterExit, includePending }) =>
        ofEvent(
          "checkin_list",
          listData({
            id,
            name: `List ${id}`,
            allow_multiple_entries: allowMultipleEntries,
            allow_entry_after_exit: allowEntryAfterExit,
            include_pending: includePending,
            // The persons inside are counted. One limit is reached: alarms are raised beside the scans.
            soft_limit: id === nearLimit ? 1 : 1_000_000,
          }),
        ),
      ),
      ...start.map((state) => ofEvent("order", state.data)),
    ]),
    tickets,
    spare,
    fleeting,
    edition(dice) {
      const lines: { at: number; line: string }[] = [];
      const positions = new Map<number, ShownPosition>();
      const play = (states: readonly State[], toRecord: (state: State) => unknown) => {
        const moments = states.map(() => dice.below(1e6)).sort((a, b) => a - b);
        for (const [index, state] of states.entries())
          lines.push({ at: moments[index] ?? 0, line: JSON.stringify(toRecord(state)) });
        for (const position of states.at(-1)?.positions ?? []) positions.set(position.id, position);
      };
      for (const ticket of [...tickets, ...spare]) {
        const vary = () => toOrder("G", [toPosition(ticket.position, { ticket, dice })]);
        play(drawCourse(dice, vary), (state) => ofEvent("order", state?.data ?? {}));
      }
      for (const ticket of fleeting) {
        const vary = () => toOrder("D", [toPosition(ticket.position, { ticket, dice })]);
        const course = dice.chance(50) ? [vary(), null, vary()] : [vary(), null];
        play(course, (state) => toOrderRecord(state, "D", ticket.position));
      }
      for (const id of range(orderCount, firstOrder, 2)) {
        const vary = () => {
          const ids = dice.chance(25) ? [id, id + 1] : [id];
          const status = dice.chance(70) ? "p" : dice.pick(["n", "p", "e", "c"]);
          return toOrder(
            "F",
            ids.map((each) => toPosition(each, { order: id, dice })),
            status,
          );
        };
        const course = drawCourse(dice, vary);
        play(dice.chance(10) ? [...course, null] : dice.chance(5) ? [vary(), null, ...course] : course, (state) =>
          toOrderRecord(state, "F", id),
        );
      }
      const keys = new Map<string, boolean>();
      for (const token of changingKeys) {
        const course = Array.from({ length: 1 + dice.below(3) }, () => dice.chance(50));
        const moments = course.map(() => dice.below(1e6)).sort((a, b) => a - b);
        for (const [index, active] of course.entries()) {
          const data = { token, name: "changing", permissions: ["*"], all_events: true, active };
          lines.push({ at: moments[index] ?? 0, line: JSON.stringify(ofOrganizer("api_key", data)) });
          keys.set(token, active);
        }
      }
      lines.sort((a, b) => a.at - b.at);
      return { body: lines.map(({ line }) => line).join("\n"), lines: lines.length, positions, keys };
    },
  };
}

/** Most orders are sent once; some are changed later, and some are sent again unchanged. */
function drawCourse(dice: Dice, vary: () => State): State[] {
  const first = vary();
  if (dice.chance(15)) return [first, first];
  return dice.chance(20) ? [first, vary()] : [first];
}

function toOrderRecord(state: State, prefix: string, id: number): unknown {
  if (state !== null) return ofEvent("order", state.data);
  return { ...ofEvent("order", { code: `${prefix}${id}` }), deleted: true };
}

function toPosition(
  id: number,
  { ticket, order = id, dice }: { ticket?: Ticket; order?: number; dice?: Dice },
): ShownPosition {
  const item = dice?.chance(30) === true ? 2 : 1;
  const prefix = ticket === undefined ? "F" : id >= firstFleeting ? "D" : "G";
  return {
    id,
    order: `${prefix}${order}`,
    secret: ticket?.secret ?? `festival-${id}`,
    attendee_name: `Guest ${dice?.below(1e6) ?? 0}`,
    item,
    variation: item === 1 ? null : (dice?.pick([21, 22]) ?? 21),
  };
}

function toOrder(prefix: string, positions: readonly ShownPosition[], status = "p"): NonNullable<State> {
  const code = positions[0]?.order ?? prefix;
  const data = orderData({
    code,
    status,
    positions: positions.map(({ id, secret, attendee_name, item, variation }, index) =>
      positionData({
        id,
        positionid: index + 1,
        secret,
        item,
        variation,
        attendee_name,
        attendee_name_parts: { full_name: attendee_name },
        pseudonymization_id: `P${id}`,
      }),
    ),
  });
  return { data, positions };
}

export function toLines(records: readonly unknown[]): string {
  return records.map((record) => JSON.stringify(record)).join("\n");
}

function range(count: number, first: number, step = 1): number[] {
  return Array.from({ length: count }, (_, index) => first + index * step);
}
