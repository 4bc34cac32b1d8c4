import { createServer } from "node:net";
import { services } from "../services.ts";
import { askHttp, askService, readDescription, readReadiness } from "./ask-tessera.ts";
import { type Finding, skipped, well } from "./finding.ts";
import type { Surroundings } from "./surroundings.ts";

/** Somewhere that these processes would listen. */
interface Place {
  readonly purpose: string;
  readonly setting: string;
  readonly host: string;
  readonly port: number;
  /** Whether the one who listens there is a process of Tessera. */
  isTessera(signal: AbortSignal): Promise<boolean>;
}

/** Examines whether the ports of these processes are free, or who has them. */
export async function examinePorts(around: Surroundings, signal: AbortSignal): Promise<Finding[]> {
  const places = placesOf(around);
  const findings = await Promise.all(places.map((place) => examinePlace(place, signal)));
  return findings.length > 0 ? findings : [skipped("ports", "free ones are chosen at the start")];
}

function placesOf({ config, definitions, environment, isWhole, log }: Surroundings): Place[] {
  const places: Place[] = [];
  const httpPort = portOf(environment["HTTP_PORT"] || "8000");
  if (definitions.some(({ name }) => name === "gateway")) {
    const host = environment["HTTP_HOST"] || "127.0.0.1";
    const isTessera = async (signal: AbortSignal) => (await askGateway(ownUrl(host, httpPort), signal)) !== undefined;
    places.push({ purpose: "REST", setting: "HTTP_PORT", host, port: httpPort, isTessera });
  }
  // With all of them in one process, each has a free port, for that process alone.
  if (definitions.length < Object.keys(services).length && config.grpcPort > 0) {
    for (const [index, { name }] of definitions.entries()) {
      const port = config.grpcPort + index;
      const address = ownUrl(config.grpcHost, port).replace("http://", "");
      const isTessera = () =>
        askService(address, log).then(
          () => true,
          () => false,
        );
      places.push({ purpose: `gRPC of ${name}`, setting: "GRPC_PORT", host: config.grpcHost, port, isTessera });
    }
  }
  const operations = operationsPlace({ config, environment, isWhole });
  if (operations !== undefined) {
    const { host, port } = operations;
    const isTessera = async (signal: AbortSignal) => {
      const said = await askHttp(`${ownUrl(host, port)}/readyz`, { signal, now: Date.now }).catch(() => undefined);
      return readReadiness(said?.text ?? "") !== undefined;
    };
    places.push({ purpose: "health and metrics", setting: "METRICS_PORT", host, port, isTessera });
  }
  return places.filter(({ port }) => port > 0 && port <= 65_535);
}

/** Where a process of these services serves health and metrics; undefined where it chooses a port by itself. */
export function operationsPlace({
  config,
  environment,
  isWhole,
}: Pick<Surroundings, "config" | "environment" | "isWhole">): { host: string; port: number } | undefined {
  const port = portOf(environment["METRICS_PORT"] || (isWhole ? "0" : "9090"));
  return port === 0 ? undefined : { host: config.metricsHost, port };
}

async function askGateway(url: string, signal: AbortSignal): Promise<string | undefined> {
  const said = await askHttp(`${url}/api/v1/openapi.json`, { signal, now: Date.now }).catch(() => undefined);
  return readDescription(said?.text ?? "")?.version;
}

/** What is no port is told with the settings. */
function portOf(text: string): number {
  return /^\d{1,5}$/.test(text) ? Number(text) : 0;
}

/** Where somebody on this machine reaches what listens at the host. */
export function ownUrl(host: string, port: number): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

async function examinePlace(place: Place, signal: AbortSignal): Promise<Finding> {
  const { purpose, setting, host, port } = place;
  const code = await tryToListen(host, port);
  const where = `${host}:${port} (${purpose})`;
  if (code === undefined) return well(`${where} is free`);
  if (code === "EADDRINUSE") {
    if (await place.isTessera(signal)) return well(`${where} is held by a running Tessera`);
    return {
      level: "wrong",
      what: `${where} is held by something that does not answer as Tessera does`,
      mend: `stop it, or set ${setting} to another port; \`ss -ltnp\` tells which process it is`,
    };
  }
  const reasons: Readonly<Record<string, readonly [why: string, mend: string]>> = {
    EACCES: ["ports below 1024 need a right of their own", `set ${setting} to a higher port`],
    EADDRNOTAVAIL: ["this machine does not have that address", `set ${setting.replace("PORT", "HOST")} to one it has`],
    ENOTFOUND: ["no such host is known", `set ${setting.replace("PORT", "HOST")} to an address of this machine`],
  };
  const [why, mend] = reasons[code] ?? ["the system does not say more", `set ${setting} to another port`];
  return { level: "wrong", what: `nothing can listen at ${where}`, why: `${why} (${code})`, mend };
}

/** Listens for a moment; returns the system's word for why it cannot. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
