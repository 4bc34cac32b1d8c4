import { type ChannelCredentials, type ClientOptions, credentials, experimental } from "@grpc/grpc-js";
import { type Certificates, certificateOf, hasName } from "./certificates.ts";

/** How a peer is authenticated: by a certificate of an accepted authority with this DNS name, whatever its address. */
export interface PeerTls {
  readonly certificates: Certificates;
  readonly name: string;
}

/** The credentials of a channel to a peer, and the options that go with them. Without TLS, calls are not encrypted. */
export function secureChannel(tls: PeerTls | undefined): { credentials: ChannelCredentials; options: ClientOptions } {
  if (tls === undefined) return { credentials: credentials.createInsecure(), options: {} };
  const { name, certificates } = tls;
  return {
    credentials: experimental.createCertificateProviderChannelCredentials(
      certificates.provider,
      certificates.provider,
      {
        checkServerIdentity: (_host, shown) =>
          hasName(certificateOf(shown), name) ? undefined : new Error(`its certificate does not have the name ${name}`),
      },
    ),
    // Otherwise the handshake would name the first address, which must not be an IP address.
    options: { "grpc.ssl_target_name_override": name },
  };
}
