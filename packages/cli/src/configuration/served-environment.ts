import type { Environment } from "@tessera/kit/config/config";
import type { DemoKeys } from "../serve/fill.ts";

/** The environment of all services in one process, with the defaults of a local start. */
export function environmentOfAll(
  environment: Environment,
  options: { port: string; files: string; operatorKey: string | undefined; demoKeys?: DemoKeys | undefined },
) {
  const { port, files, operatorKey, demoKeys } = options;
  const served = {
    HTTP_HOST: "127.0.0.1",
    BASE_URL: `http://localhost:${port}`,
    FILES_DIR: files,
    // An empty variable counts as not set.
    ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value)),
    HTTP_PORT: port,
    OPERATOR_KEY: operatorKey,
  };
  // The documentation shows the demo keys to everyone who opens it: on loopback addresses only.
  return demoKeys !== undefined && loopbacks.has(served.HTTP_HOST) ? { ...served, ...shownKeys(demoKeys) } : served;
}

const loopbacks: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** The settings that let the documentation fill in the demo keys. */
export function shownKeys({ apiKey, deviceKey }: DemoKeys) {
  return { DEMO_API_KEY: apiKey, DEMO_DEVICE_KEY: deviceKey };
}

/** The environment of single services. The operator key may also have the name that the command uses. */
export function environmentOfPod(environment: Environment): Environment {
  return { ...environment, OPERATOR_KEY: environment["OPERATOR_KEY"] || environment["TESSERA_OPERATOR_KEY"] };
}

/** The URL by which this machine reaches a server that listens on the host. */
export function ownUrl(host: string, port: number): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
