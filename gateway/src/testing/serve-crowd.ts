import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { fault } from "../faults.ts";
import type { Crowd } from "../http/route.ts";
import { aPosition } from "./fake-peers.ts";
import { inEvent, type ServedApp, serveApp } from "./serve-app.ts";

/** The application, and the room for its scans. */
export interface ServedCrowd extends ServedApp {
  /** Set by a test. At first there is no room. */
  crowd: Crowd;
}

export const noRoom: Crowd = () => fault("too_many_redeems", "There is no room.", { retryAfterMs: 1000 });

export const roomForAll: Crowd = () => undefined;

export const admitted: ScanOutcome = {
  outcome: { $case: "admitted", value: {} },
  list: { id: 7, name: "Main gate", event: "sampleconf", subevent: undefined, includePending: true },
  position: aPosition(),
  checkinTexts: [],
};

export const redeemPath = (code: string, event = inEvent) => `${event}/checkinlists/7/positions/${code}/redeem/`;

/** Serves the application with scans that are admitted as far as a test leaves room. */
export async function serveCrowd(options: Omit<Parameters<typeof serveApp>[0], "routes"> = {}): Promise<ServedCrowd> {
  const told = { crowd: noRoom };
  const crowd: Crowd = (request) => told.crowd(request);
  const app = await serveApp({
    ...options,
    routes: (routes) => routes.map((route) => (route.crowd === undefined ? route : { ...route, crowd })),
  });
  app.peers.when("scans", "redeem", async () => ({ outcome: admitted }));
  return Object.assign(told, app);
}
