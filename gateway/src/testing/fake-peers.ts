import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { CheckinList } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { type ListedPosition, ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Layout } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import type { Voucher, VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { type Clients, clients } from "../clients.ts";

/** Peers that answer as a test says, and record their requests. */
export interface FakePeers {
  readonly clients: Clients;
  /** Called methods with their requests, in order. */
  readonly calls: { readonly method: string; readonly request: unknown }[];
  when<Service extends keyof Clients, Method extends keyof Clients[Service] & string>(
    service: Service,
    method: Method,
    answer: Clients[Service][Method],
  ): void;
  requestsOf(method: string): unknown[];
}

/** Makes peers whose methods all fail until a test says otherwise. */
export function fakePeers(): FakePeers {
  const answers = new Map<string, (request: unknown, options: unknown) => unknown>();
  const calls: { method: string; request: unknown }[] = [];
  const clientOf = (service: string) =>
    new Proxy(
      {},
      {
        get: (_target, method: string) => async (request: unknown, options: unknown) => {
          calls.push({ method, request });
          const answer = answers.get(`${service}.${method}`);
          if (answer === undefined) throw new Error(`no test said what ${service}.${method} answers`);
          return answer(request, options);
        },
      },
    );
  return {
    clients: Object.fromEntries(
      Object.keys(clients).map((service) => [service, clientOf(service)]),
    ) as unknown as Clients,
    calls,
    when: (service, method, answer) => void answers.set(`${service}.${method}`, answer),
    requestsOf: (method) => calls.filter((call) => call.method === method).map(({ request }) => request),
  };
}

export function aList(overrides: Partial<CheckinList["fields"]> = {}, id = 7): CheckinList {
  return {
    id,
    positionCount: 10,
    checkinCount: 3,
    fields: {
      name: "Main gate",
      allProducts: true,
      limitProducts: [],
      subevent: undefined,
      includePending: false,
      allowMultipleEntries: false,
      allowEntryAfterExit: true,
      rules: "{}",
      exitAllAt: undefined,
      addonMatch: false,
      ignoreInStatistics: false,
      considerTicketsUsed: true,
      takesFrom: [],
      ...overrides,
    },
  };
}

/** A paid ticket that was scanned once. */
export function aPosition(overrides: Partial<ListedPosition> = {}): ListedPosition {
  return {
    attendeeName: "Ada Lovelace",
    attendeeNameParts: { full_name: "Ada Lovelace" },
    checkins: [
      {
        id: 5,
        list: 7,
        at: 1_700_000_000_123_456,
        type: ScanType.ENTRY,
        gate: 2,
        device: 9,
        deviceId: 3,
        autoCheckedIn: false,
      },
    ],
    requireAttention: false,
    downloads: ["pdf"],
    addons: [],
    position: {
      id: 42,
      positionid: 1,
      item: 11,
      price: "23.00",
      attendeeNameParts: {},
      taxRate: "19.00",
      taxValue: "3.67",
      secret: "abc",
      pseudonymizationId: "PSEUDO",
      canceled: false,
      blocked: [],
      answers: [{ question: 1, answer: "M", questionIdentifier: "SIZE", options: [4], optionIdentifiers: ["M"] }],
      seat: { id: 1, name: "Row 1, Seat 2", seatGuid: "1-2", zoneName: "A", rowName: "1", seatNumber: "2" },
      order: {
        code: "ABC12",
        status: OrderStatus.PAID,
        validIfPending: false,
        requireApproval: false,
        locale: "en",
        placedAt: 1_700_000_000_000_000,
        checkinAttention: false,
      },
    },
    ...overrides,
  };
}

/** A layout with a mark of the platform. */
export function aLayout(overrides: Partial<Layout> = {}): Layout {
  return {
    id: 7,
    name: "Standard",
    isDefault: true,
    elements: '[{"type":"poweredby","left":1.0,"bottom":"007.50","size":20,"content":"dark"}]',
    background: undefined,
    itemAssignments: [{ item: 11, salesChannel: "web" }],
    ...overrides,
  };
}

/** A voucher that was redeemed once. */
export function aVoucher(overrides: Partial<VoucherFields> = {}, id = 7): Voucher {
  return {
    id,
    createdAt: 1_700_000_000_000_000,
    redeemed: 1,
    budgetUsed: "5.00",
    fields: {
      code: "SPEAKER2027",
      maxUsages: 3,
      minUsages: 1,
      validUntil: undefined,
      blockQuota: false,
      allowIgnoreQuota: false,
      priceMode: "percent",
      value: "50.00",
      item: 11,
      variation: undefined,
      quota: undefined,
      seat: undefined,
      tag: "speakers",
      comment: "",
      subevent: undefined,
      showHiddenItems: true,
      allAddonsIncluded: false,
      allBundlesIncluded: false,
      budget: undefined,
      ...overrides,
    },
  };
}
