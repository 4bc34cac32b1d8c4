import { connect, createServer, type NetConnectOpts, type Socket } from "node:net";

/** An address that leads to a server, and fails as a network does. */
export interface TcpLink {
  readonly port: number;
  /** Takes so long for each way, requests and answers alike half of it. */
  delay(roundTripMs: number): void;
  /** Loses what goes in one direction, also the ends of connections. Neither side is told. */
  drop(direction: Direction): void;
  /** Resets new connections, and those that are open. */
  refuse(): void;
  /** Resets the connections that are open. */
  cut(): void;
  /** Ends all faults. Connections that have lost something are reset, as keepalives would do later. */
  heal(): void;
  /** How many connections are open. */
  open(): number;
  close(): Promise<void>;
}

export type Direction = "requests" | "answers";

interface Faults {
  delayMs: number;
  dropped: Direction | undefined;
  refusing: boolean;
}

interface Connection {
  hasLost: boolean;
  reset(): void;
}

export interface TcpLinkOptions {
  /** Undefined: a free one. */
  readonly port?: number;
  /** Looked up for each connection: another server may take over the address. */
  readonly target: () => NetConnectOpts;
}

/** Opens a link. */
export async function openTcpLink({ port, target }: TcpLinkOptions): Promise<TcpLink> {
  const faults: Faults = { delayMs: 0, dropped: undefined, refusing: false };
  const connections = new Set<Connection>();
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (faults.refusing) {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const server = connect({ ...target(), allowHalfOpen: true });
    const connection: Connection = {
      hasLost: false,
      reset() {
        client.resetAndDestroy();
        server.destroy();
      },
    };
    connections.add(connection);
    for (const socket of [client, server]) socket.on("error", () => {});
    carry({ from: client, to: server, direction: "requests", faults, connection });
    carry({ from: server, to: client, direction: "answers", faults, connection });
    let closed = 0;
    for (const socket of [client, server])
      socket.once("close", () => {
        closed += 1;
        if (closed === 2) connections.delete(connection);
      });
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port ?? 0, "127.0.0.1", resolve);
  });
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("a link has no port");
  const cut = () => {
    for (const connection of connections) connection.reset();
  };
  return {
    port: address.port,
    delay(roundTripMs) {
      faults.delayMs = roundTripMs / 2;
    },
    drop(direction) {
      faults.dropped = direction;
    },
    refuse() {
      faults.refusing = true;
      cut();
    },
    cut,
    heal() {
      Object.assign(faults, { delayMs: 0, dropped: undefined, refusing: false });
      for (const connection of connections) if (connection.hasLost) connection.reset();
    },
    open: () => connections.size,
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve));
      cut();
      await closed;
    },
  };
}

/** Passes one direction on, in order and no faster than it is taken. */
function carry({
  from,
  to,
  direction,
  faults,
  connection,
}: {
  readonly from: Socket;
  readonly to: Socket;
  readonly direction: Direction;
  readonly faults: Readonly<Faults>;
  readonly connection: Connection;
}): void {
  const waiting: { readonly due: number; act(): void }[] = [];
  const passDue = () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const leftMs = next.due - performance.now();
      if (leftMs > 0) {
        setTimeout(passDue, Math.ceil(leftMs));
        return;
      }
      waiting.shift();
      next.act();
    }
  };
  /** Does something when everything before it has arrived, unless it gets lost. */
  const pass = (act: () => void) => {
    if (faults.dropped === direction) {
      connection.hasLost = true;
      return;
    }
    waiting.push({ due: performance.now() + faults.delayMs, act });
    if (waiting.length === 1) passDue();
  };
  from.on("data", (data) => {
    pass(() => {
      if (to.destroyed || to.write(data)) return;
      from.pause();
      to.once("drain", () => from.resume());
    });
  });
  from.once("end", () => pass(() => to.end()));
  // Without an end before it, the other side has crashed.
  from.once("close", () => {
    if (!from.readableEnded) pass(() => to.destroy());
    else if (to.destroyed) from.destroy();
  });
}
