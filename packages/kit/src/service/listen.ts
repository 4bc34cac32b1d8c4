import type { Server } from "node:net";
import { fault } from "../faults.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The purpose of the port, as the end of "set another port for …". */
  readonly purpose: string;
}

/** Starts to accept connections. If that fails, the Fault has the remedy. */
export function listen(server: Server, options: ListenOptions): Promise<void> {
  const { host, port } = options;
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(toFault(error, options));
    server.once("error", refuse);
    server.listen({ host, port }, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}

function toFault(error: NodeJS.ErrnoException, { host, port, purpose }: ListenOptions): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return fault(
        "port_in_use",
        `port ${port} on ${host} is taken by another process; stop that one or set another port for ${purpose}`,
        { cause: error },
      );
    case "EACCES":
      return fault(
        "port_forbidden",
        `port ${port} on ${host} needs rights that this process lacks; set a port of 1024 or above for ${purpose}`,
        { cause: error },
      );
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return fault(
        "address_unavailable",
        `${host} is no address of this machine; set another host for ${purpose}, for instance 0.0.0.0`,
        { cause: error },
      );
    default:
      return error;
  }
}
