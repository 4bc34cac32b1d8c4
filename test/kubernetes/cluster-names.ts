import { createSocket } from "node:dgram";
import { request } from "node:https";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ControlPlane } from "./control-plane.ts";

/** The name server of a cluster. */
export interface ClusterNames {
  close(): Promise<void>;
}

interface Watched {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Record<string, string> };
  readonly spec?: { readonly clusterIP?: string };
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
}

const zone = ".svc.cluster.local";

/**
 * Answers names of Services at an address of this machine, as the name server of a cluster does: an address of its own
 * for a Service that has one, else the addresses of its ready pods. It knows no other names.
 */
export async function openClusterNames(address: string, api: ControlPlane): Promise<ClusterNames> {
  const closing = new AbortController();
  const services = watch(api, "/api/v1/services", closing.signal);
  const slices = watch(api, "/apis/discovery.k8s.io/v1/endpointslices", closing.signal);

  /** Undefined: there is no such name. */
  function find(name: string): readonly string[] | undefined {
    if (!name.endsWith(zone)) return undefined;
    const [service = "", namespace = "", more] = name.slice(0, -zone.length).split(".");
    const found = services.get(`${namespace}/${service}`);
    if (found === undefined || more !== undefined) return undefined;
    const own = found.spec?.clusterIP ?? "None";
    if (own !== "None") return [own];
    return [...slices.values()]
      .filter(({ metadata }) => metadata.namespace === namespace)
      .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === service)
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => addresses);
  }

  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const answer = answerQuery(query, find);
    if (answer !== undefined) socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(53, address, resolve);
  });
  return {
    async close() {
      closing.abort();
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

/** Keeps what the API has of a kind, by namespace and name. */
function watch(api: ControlPlane, path: string, signal: AbortSignal): ReadonlyMap<string, Watched> {
  const kept = new Map<string, Watched>();
  const follow = async () => {
    while (!signal.aborted) {
      // A watch without a revision begins with all there is.
      const seen = new Map<string, Watched>();
      await readLines(`${api.url}${path}?watch=true`, { token: api.token, signal }, (line) => {
        const { type, object } = JSON.parse(line) as { type: string; object: Watched };
        const key = `${object.metadata.namespace}/${object.metadata.name}`;
        for (const map of [kept, seen]) {
          if (type === "DELETED") map.delete(key);
          else map.set(key, object);
        }
      }).catch(() => {});
      for (const key of kept.keys()) if (!seen.has(key)) kept.delete(key);
      await sleep(200, undefined, { signal }).catch(() => {});
    }
  };
  void follow();
  return kept;
}

function readLines(
  url: string,
  { token, signal }: { readonly token: string; readonly signal: AbortSignal },
  onLine: (line: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false, signal };
    const asked = request(url, options, (response) => {
      createInterface({ input: response }).on("line", onLine).on("close", resolve).on("error", reject);
    });
    asked.on("error", reject);
    asked.end();
  });
}

const headerBytes = 12;
const typeOfAddress = 1;
const answered = 0x8580;
const noSuchName = 0x8583;
/** As name servers of clusters have it. */
const secondsToLive = 5;

/** A datagram with one question to one with its answers. Undefined for what is no question. */
export function answerQuery(query: Buffer, find: (name: string) => readonly string[] | undefined): Buffer | undefined {
  const labels: string[] = [];
  let at = headerBytes;
  if (query.length < headerBytes || query.readUInt16BE(4) !== 1) return undefined;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  const end = at + 5;
  if (query.length < end) return undefined;
  const found = find(labels.join("."));
  const addresses = query.readUInt16BE(at + 1) === typeOfAddress ? (found ?? []) : [];
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(found === undefined ? noSuchName : answered, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    // The name is that of the question.
    record.writeUInt16BE(0xc000 | headerBytes, 0);
    record.writeUInt16BE(typeOfAddress, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(secondsToLive, 6);
    record.writeUInt16BE(4, 10);
    record.set(address.split(".").map(Number), 12);
    return record;
  });
  return Buffer.concat([header, query.subarray(headerBytes, end), ...records]);
}
