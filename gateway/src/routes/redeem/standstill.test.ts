import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inEvent, keys, type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { admitted } from "../../testing/serve-crowd.ts";

let app: ServedApp;
let lookups: string[];

beforeEach(async () => {
  app = await serveApp();
  lookups = [];
  app.peers.when("scans", "redeem", async ({ scans }) => {
    lookups.push(...scans.map(({ lookup }) => lookup));
    return { outcomes: scans.map(() => admitted) };
  });
});
afterEach(() => app.close());

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function openScanner() {
  const socket = connect({ port: app.port, host: "127.0.0.1" });
  await once(socket, "connect");
  return {
    socket,
    scan(lookup: string) {
      const body = JSON.stringify({ nonce: lookup });
      socket.write(
        [
          `POST ${inEvent}/checkinlists/7/positions/${lookup}/redeem/ HTTP/1.1`,
          "Host: gate",
          `Authorization: Token ${keys.all}`,
          "Content-Type: application/json",
          `Content-Length: ${body.length}`,
          "",
          body,
        ].join("\r\n"),
      );
    },
  };
}

it("[C3.48] a scan that arrived while the process stood still is sent only if its scanner has not closed the connection", async () => {
  // Its token is known from then on, and nothing is waited for.
  const first = await openScanner();
  first.scan("first");
  await once(first.socket, "data");
  const [stays, leaves] = [await openScanner(), await openScanner()];
  await sleep(50);
  stays.scan("stays");
  leaves.scan("leaves");
  leaves.socket.destroy();
  standStill(1500);
  await once(stays.socket, "data");
  await sleep(100);
  expect(lookups).toEqual(["first", "stays"]);
  for (const { socket } of [first, stays]) socket.destroy();
});

it("[C3.48] a scan that waited for a call while the process stood still is sent only if its scanner has not closed the connection", async () => {
  const held = Promise.withResolvers<void>();
  app.peers.when("scans", "redeem", async ({ scans }) => {
    lookups.push(...scans.map(({ lookup }) => lookup));
    await held.promise;
    return { outcomes: scans.map(() => admitted) };
  });
  const [first, second] = [await openScanner(), await openScanner()];
  const [stays, leaves] = [await openScanner(), await openScanner()];
  first.scan("first");
  await expect.poll(() => lookups).toEqual(["first"]);
  second.scan("second");
  await expect.poll(() => lookups).toEqual(["first", "second"]);
  // Two calls are under way, so the next scans wait.
  stays.scan("stays");
  leaves.scan("leaves");
  await sleep(50);
  expect(lookups).toEqual(["first", "second"]);
  leaves.socket.destroy();
  held.resolve();
  standStill(1500);
  await once(stays.socket, "data");
  await sleep(100);
  expect(lookups).toEqual(["first", "second", "stays"]);
  for (const { socket } of [first, second, stays]) socket.destroy();
});

it("[C3.48] a scan whose call failed while the process stood still is sent again only if its scanner has not closed the connection", async () => {
  const failing = Promise.withResolvers<void>();
  app.peers.when("scans", "redeem", async ({ scans }) => {
    lookups.push(...scans.map(({ lookup }) => lookup));
    await failing.promise;
    throw new Error("checkin was killed");
  });
  const leaves = await openScanner();
  leaves.scan("leaves");
  await expect.poll(() => lookups).toEqual(["leaves"]);
  leaves.socket.destroy();
  failing.resolve();
  standStill(1500);
  await sleep(200);
  expect(lookups).toEqual(["leaves"]);
});
