import { readFile, writeFile } from "node:fs/promises";
import { runTool } from "./run-tool.ts";

/** The network of the pods. This machine is the first address in it, and pods find its engines there. */
export const podNetwork = { bridge: "tessera0", address: "10.244.0.1", range: "10.244.0.0/24", bits: 24 } as const;

export const serviceRange = "10.96.0.0/16";

const forwarding = "/proc/sys/net/ipv4/ip_forward";

/** Makes the bridge of the pods, before any of them starts. Its removal restores what it has changed. */
export async function makeNodeNetwork(): Promise<{ remove(): Promise<void> }> {
  const { bridge, address, bits } = podNetwork;
  await removeBridge();
  const before = (await readFile(forwarding, "utf8")).trim();
  await runTool("ip", ["link", "add", bridge, "type", "bridge"]);
  await runTool("ip", ["address", "add", `${address}/${bits}`, "dev", bridge]);
  await runTool("ip", ["link", "set", bridge, "up"]);
  await writeFile(forwarding, "1");
  return {
    async remove() {
      await removeBridge();
      // What kube-proxy has written outlives it.
      for (const family of ["ip", "ip6"])
        await runTool("nft", ["delete", "table", family, "kube-proxy"]).catch(() => {});
      await writeFile(forwarding, before);
    },
  };
}

async function removeBridge(): Promise<void> {
  await runTool("ip", ["link", "delete", podNetwork.bridge]).catch(() => {});
}

/**
 * The settings of the network plugin: addresses of a bridge, and no other rule. All nodes keep the addresses that are taken
 * in one folder.
 */
export function networkPlugins(taken: string): object {
  const ranges = [[{ subnet: podNetwork.range, rangeStart: "10.244.0.10" }]];
  const ipam = { type: "host-local", dataDir: taken, ranges, routes: [{ dst: "0.0.0.0/0" }] };
  const plugins = [{ type: "bridge", bridge: podNetwork.bridge, isGateway: true, hairpinMode: true, ipam }];
  return { cniVersion: "0.4.0", name: "pods", plugins };
}
