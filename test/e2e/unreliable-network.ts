import { openTcpLink } from "../failure/tcp-link.ts";

/** How a network treats what passes: `loses` resets connections every moment, `stalls` lets no answer through. */
export type NetworkMode = "passes" | "delays" | "loses" | "stalls" | "refuses";

export interface UnreliableNetwork {
  readonly url: string;
  /** Changes how what comes from now on is treated; connections of before are cut unless all passes again. */
  become(mode: NetworkMode): void;
  close(): Promise<void>;
}

const delayMs = 900;
const cutEveryMs = 150;

/** Stands between a client and a server, and can be as bad as the network of a festival. */
export async function startUnreliableNetwork(target: string): Promise<UnreliableNetwork> {
  const { hostname: host, port } = new URL(target);
  const link = await openTcpLink({ target: () => ({ host, port: Number(port) }) });
  let cutting: ReturnType<typeof setInterval> | undefined;
  const begin: Readonly<Record<NetworkMode, () => void>> = {
    passes: () => {},
    delays: () => link.delay(delayMs),
    loses: () => {
      cutting = setInterval(() => link.cut(), cutEveryMs);
    },
    stalls: () => link.drop("answers"),
    refuses: () => link.refuse(),
  };
  const heal = () => {
    clearInterval(cutting);
    link.heal();
  };
  return {
    url: `http://127.0.0.1:${link.port}`,
    become(mode) {
      heal();
      if (mode !== "passes") link.cut();
      begin[mode]();
    },
    async close() {
      heal();
      await link.close();
    },
  };
}
