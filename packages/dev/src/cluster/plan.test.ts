import { describe, expect, it } from "vitest";
import { environmentOf, peerAddresses, planProcesses, readFirstPort, usualReplicas } from "./plan.ts";

describe("a cluster on one machine", () => {
  const processes = planProcesses(usualReplicas, { firstPort: 8000 });

  it("gives every process ports of its own", () => {
    expect(processes.map(({ name }) => name)).toEqual([
      "boxoffice-1",
      "checkin-1",
      "checkin-2",
      "gateway-1",
      "gateway-2",
      "layout-and-render-1",
      "offline-sales-1",
      "shredder-1",
      "voucher-1",
    ]);
    const ports = processes.flatMap(({ ports: { operations, grpc, http = [] } }) => [operations, grpc, http].flat());
    expect(new Set(ports).size).toBe(20);
    expect(processes.at(-5)?.ports).toEqual({ operations: 8104, grpc: 8204, http: 8001 });
  });

  it("leaves room for the ports above the first one", () => {
    expect(readFirstPort("65327")).toBe(65_327);
    expect(() => readFirstPort("65328")).toThrow(expect.objectContaining({ code: "bad_port" }));
    expect(() => readFirstPort("65500")).toThrow("--port takes at most 65327");
  });

  it("tells each of them all addresses of its peers", () => {
    const peers = peerAddresses(processes);
    expect(peers["CHECKIN_ADDRESS"]).toBe("ipv4:127.0.0.1:8201,127.0.0.1:8202");
    const [boxoffice] = processes;
    if (boxoffice === undefined) throw new Error("no process");
    expect(environmentOf(boxoffice, { peers, shared: { BUS: "kafka" } })).toMatchObject({
      BUS: "kafka",
      GATEWAY_ADDRESS: "ipv4:127.0.0.1:8203,127.0.0.1:8204",
      GRPC_PORT: "8200",
      METRICS_PORT: "8100",
    });
  });
});
