import { Capacity } from "@tessera/protos/services";

/** What voucher calls, by the service that serves it. */
export const clients = { capacity: ["boxoffice", Capacity] } as const;
