/** A program with two servers in one process: for clients, and for operations. It prints both ports. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { httpServer } from "../http/server.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const server = httpServer({ host: "127.0.0.1", port: 0, log, metrics: createMetrics() });
server.answerWith((_request, response) => response.end("answer"));
await server.start();
const other = createServer((_request, response) => response.end("alive")).listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ clients: server.port(), other: (other.address() as AddressInfo).port })}\n`);
});
