import { createServer } from "node:net";

/** Pretix and others take the usual port on machines of developers, too. */
const mostTried = 20;

/** The first free port from the usual one on; the usual one if none of the next is free, whose refusal explains itself. */
export async function choosePort(usual: number, host: string): Promise<number> {
  for (let port = usual; port < usual + mostTried; port += 1) if (await isFree(port, host)) return port;
  return usual;
}

/** Whether a server could listen there, as far as others do not. */
export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "EADDRINUSE"));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
