import type { Environment } from "@tessera/kit/config/config";
import { fault } from "../faults.ts";

/** `BOXOFFICE_ADDRESS`, say. */
export function addressSetting(service: string): string {
  return `${service.replaceAll("-", "_").toUpperCase()}_ADDRESS`;
}

/** Reads where peers serve gRPC, and names all that are missing. A deployment may lack those that are optional. */
export function readAddresses(
  peers: readonly string[],
  environment: Environment,
  optional: readonly string[] = [],
): Map<string, string> {
  const found = peers.map((peer) => {
    const setting = addressSetting(peer);
    return { peer, setting, address: environment[setting] ?? "" };
  });
  const missing = found.filter(({ peer, address }) => address === "" && !optional.includes(peer));
  if (missing.length > 0) {
    const lines = missing.map(({ peer, setting }) => `  ${setting} is required: where ${peer} serves gRPC`);
    throw fault("configuration_invalid", `configuration:\n${lines.join("\n")}`);
  }
  const present = found.filter(({ address }) => address !== "");
  return new Map(present.map(({ peer, address }) => [peer, grpcTarget(address)]));
}

/** A name means all its addresses; it is resolved again when a connection is lost. */
export function grpcTarget(address: string): string {
  return /^(dns|ipv4|ipv6|unix):/.test(address) ? address : `dns:///${address}`;
}
