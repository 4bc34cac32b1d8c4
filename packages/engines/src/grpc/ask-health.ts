import { Client, Metadata } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import { type PeerTls, secureChannel } from "./channel.ts";
import { refusesProcess } from "./fault-status.ts";

/** Asks a peer whether it serves. Rejects with the reason if the peer cannot be reached, or refuses this process. */
export async function askHealth({
  address,
  tls,
  timeoutMs,
}: {
  address: string;
  tls: PeerTls | undefined;
  timeoutMs: number;
}): Promise<void> {
  const { Check: check } = healthService;
  if (check === undefined) throw new Error("grpc.health.v1 has no Check");
  const { path, requestSerialize, responseDeserialize } = check;
  const { credentials, options } = secureChannel(tls);
  const client = new Client(address, credentials, { ...options, "grpc.enable_http_proxy": 0 });
  try {
    await new Promise<void>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { service: "" },
        new Metadata(),
        { deadline: Date.now() + timeoutMs },
        (error) => (error === null ? resolve() : reject(new Error(describe(error)))),
      );
    });
  } finally {
    client.close();
  }
}

function describe({ code, details }: { code: number; details: string }): string {
  if (refusesProcess({ code })) return `it refuses the certificate of this process: ${details}`;
  // grpc-js wraps the error of the last attempt in sentences of its own.
  return /Last error: (?:Error: )?(.+?)(?:\. Resolution note:.*)?$/.exec(details)?.[1] ?? details;
}
