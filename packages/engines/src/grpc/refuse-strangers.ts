import type { X509Certificate } from "node:crypto";
import { Metadata, ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder } from "@grpc/grpc-js";
import type { Log } from "@tessera/kit/telemetry/log";
import { certificateOf, hasName } from "./certificates.ts";
import { countSeldom } from "./count-seldom.ts";
import { notACaller, uncertified, type WireStatus } from "./fault-status.ts";

/** The names in the certificates of the callers of each method, by its path. */
export type Callers = ReadonlyMap<string, readonly string[]>;

const healthChecks = "/grpc.health.v1.Health/";

/**
 * Accepts calls with a certificate of an accepted authority whose name may call the method. Health checks need such a
 * certificate with any name.
 *
 * The handshake requests a certificate but completes without one: only so the caller learns why it is refused, and does
 * not reconnect again and again.
 */
export function refuseStrangers({ callers, log }: { callers: Callers; log: Log }): ServerInterceptor {
  const countRefused = countSeldom();
  return ({ path }, call) => {
    // Undefined unless the certificate was verified.
    const { sslPeerCertificate: shown } = call.getAuthContext();
    const certificate = shown && certificateOf(shown);
    const refusal = judgeCaller({ path, certificate }, callers);
    if (refusal === undefined) return new ServerInterceptingCall(call);
    const refused = countRefused();
    if (refused !== undefined)
      log.warn("caller refused", { path, why: refusal.message, names: certificate?.subjectAltName, refused });
    const { code, message: details } = refusal;
    const onReceiveMetadata = () => call.sendStatus({ code, details, metadata: new Metadata() });
    return new ServerInterceptingCall(call, {
      start: (next) => next(new ServerListenerBuilder().withOnReceiveMetadata(onReceiveMetadata).build()),
    });
  };
}

function judgeCaller(
  { path, certificate }: { path: string; certificate: X509Certificate | undefined },
  callers: Callers,
): WireStatus | undefined {
  if (certificate === undefined) return uncertified;
  if (path.startsWith(healthChecks)) return undefined;
  return callers.get(path)?.some((name) => hasName(certificate, name)) === true ? undefined : notACaller;
}
