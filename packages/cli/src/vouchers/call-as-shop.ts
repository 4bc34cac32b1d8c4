import { watchCertificates } from "@tessera/engines/grpc/certificates";
import { grpcTransport } from "@tessera/engines/grpc/client";
import { NotImplemented } from "@tessera/engines/grpc/fault-status";
import { type Environment, readConfig } from "@tessera/kit/config/config";
import { Fault } from "@tessera/kit/fault";
import { type Client, connect } from "@tessera/kit/rpc";
import { createLog } from "@tessera/kit/telemetry/log";
import { VoucherShop } from "@tessera/protos/services";
import { processSettings } from "../configuration/engine-settings.ts";
import { fault } from "../faults.ts";
import { addressSetting, grpcTarget } from "../serve/grpc-addresses.ts";
import { certificateName, requireSecure } from "../serve/secure-calls.ts";

/** Calls the shop API of voucher, with the certificate of a shop if calls leave this machine. */
export async function callAsShop<T>(
  { address, environment }: { readonly address: string; readonly environment: Environment },
  call: (shop: Client<VoucherShop>) => Promise<T>,
): Promise<T> {
  // The command does not listen, so the host of a server does not matter.
  const around = { ...environment, GRPC_HOST: undefined, [addressSetting("voucher")]: address };
  const config = readConfig(processSettings, around);
  const files = requireSecure(config, { names: ["shop"], peers: ["voucher"], environment: around });
  const log = createLog({ service: "tessera", destination: { write: () => {} } });
  const names = [certificateName("shop", environment)];
  const certificates = files && watchCertificates({ files, names, log });
  const tls = certificates && { certificates, name: certificateName("voucher", environment) };
  const transport = grpcTransport({ address: grpcTarget(address), log, tls });
  try {
    return await call(connect(VoucherShop, transport));
  } catch (error) {
    throw explain(error, address);
  } finally {
    await transport.close();
    certificates?.close();
  }
}

function explain(error: unknown, address: string): unknown {
  if (error instanceof NotImplemented)
    return fault(
      "voucher_unreachable",
      `${address} is not voucher, but another service; the port of voucher is needed`,
    );
  if (!(error instanceof Fault) || error.kind !== "unavailable") return error;
  const reason =
    error.code === "peer_unavailable"
      ? "look whether it serves gRPC there, and with certificates if this command has one"
      : error.message;
  return fault("voucher_unreachable", `voucher cannot be reached at ${address}: ${reason}`, { cause: error });
}
