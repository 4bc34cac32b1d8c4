import { createServer } from "node:net";

/** The usual port is often taken on machines of developers. */
const mostTried = 20;

/** The first free port from the usual one on; without any, the usual one, whose error explains itself. */
export async function choosePort(usual: number, host: string): Promise<number> {
  for (let port = usual; port < usual + mostTried; port += 1) if (await isFree(port, host)) return port;
  return usual;
}

/** Whether a server could listen there. */
export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "EADDRINUSE"));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
