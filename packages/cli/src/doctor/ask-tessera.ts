import { connect as connectTo } from "node:net";
import { Fault } from "@tessera/kit/fault";
import { grpcTransport } from "@tessera/kit/grpc/client";
import type { Readiness } from "@tessera/kit/health";
import type { Log } from "@tessera/kit/log";
import { connect } from "@tessera/kit/rpc";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";

/** Probes of this machine answer in milliseconds, and across a network in tens of them. */
const patienceMs = 3000;

/** What somebody said over HTTP, and when by the clock here and there. */
export interface Said {
  readonly status: number;
  readonly text: string;
  readonly date: string | null;
  /** Milliseconds since 1970 by the clock here, before asking and when the answer began. */
  readonly asked: number;
  readonly answered: number;
}

/** Asks over HTTP, within a few seconds and following nobody elsewhere. */
export async function askHttp(url: string, { signal, now }: { signal: AbortSignal; now: () => number }): Promise<Said> {
  const asked = now();
  const limited = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const response = await fetch(url, { signal: limited, redirect: "manual" });
  const answered = now();
  const text = await response.text();
  return { status: response.status, text, date: response.headers.get("date"), asked, answered };
}

/** Reads a gateway's description of itself; undefined where something else has answered. */
export function readDescription(text: string): { readonly version: string; readonly server: string } | undefined {
  const page = readObject(text);
  const info = asObject(page?.["info"]);
  if (info?.["title"] !== "Tessera") return undefined;
  const servers = page?.["servers"];
  const first = asObject(Array.isArray(servers) ? (servers as unknown[])[0] : undefined);
  return { version: textOf(info["version"]), server: textOf(first?.["url"]) };
}

/** Reads what `/readyz` answers; undefined where something else has answered. */
export function readReadiness(text: string): Readiness | undefined {
  const page = readObject(text);
  const { ready, stage } = page ?? {};
  if (typeof ready !== "boolean" || (stage !== "starting" && stage !== "serving" && stage !== "draining"))
    return undefined;
  const states = Object.entries(asObject(page?.["dependencies"]) ?? {});
  return { ready, stage, dependencies: Object.fromEntries(states.map(([name, state]) => [name, textOf(state)])) };
}

/** Asks a service what every service can answer; throws what keeps it from that. */
export async function askService(address: string, log: Log): Promise<void> {
  const hasScheme = /^(?:dns|ipv4|ipv6|unix):/.test(address);
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  // A call waits for a peer that is away; the system knows at once.
  if (!hasScheme && port !== "") await knock(host, Number(port));
  const transport = grpcTransport({ address: hasScheme ? address : `dns:///${address}`, log });
  const nobodys = { marker: "00000000-0000-0000-0000-000000000000", partitions: [] };
  try {
    await waitAtMost(
      patienceMs,
      connect(FactsServiceService, transport).caughtUp(nobodys),
      () => new Fault("timeout", "no_answer", `no answer within ${patienceMs / 1000} seconds`),
    );
  } finally {
    await transport.close();
  }
}

/** Connects for a moment, over whichever address of a name answers. */
function knock(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTo({ host, port, timeout: patienceMs });
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("timeout", () => socket.destroy(new Error(`no answer within ${patienceMs / 1000} seconds`)));
    socket.once("error", reject);
  });
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
