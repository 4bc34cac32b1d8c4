import type { Environment } from "@tessera/kit/config";

/** The environment of all services in one process, with the defaults of a local start. */
export function environmentOfAll(
  environment: Environment,
  { port, files, operatorKey }: { port: string; files: string; operatorKey: string | undefined },
) {
  return {
    HTTP_HOST: "127.0.0.1",
    BASE_URL: `http://localhost:${port}`,
    FILES_DIR: files,
    ...environment,
    HTTP_PORT: port,
    OPERATOR_KEY: operatorKey,
  };
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
