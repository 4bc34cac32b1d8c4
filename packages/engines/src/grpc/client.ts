import { Client, connectivityState, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { Transport } from "@tessera/kit/rpc";
import type { Log } from "@tessera/kit/telemetry/log";
import { type PeerTls, secureChannel } from "./channel.ts";
import { deadlineExceeded, fromStatus, isLocalTimeout, peerUnavailable, type WireStatus } from "./fault-status.ts";
import { mostMessageBytes } from "./message-size.ts";
import { detailsKey, requestIdKey, traceparentKey } from "./metadata-keys.ts";
import { abortReason, type PlacedCall, placeCall } from "./place-call.ts";

/**
 * A frozen peer keeps its connections, and gets calls until these pings fail: within five seconds, even without calls.
 * A merely busy process answers a ping in time.
 */
const keepaliveMs = 2000;
const keepaliveTimeoutMs = 3000;

/** Shorter than the default timeout of a call, so that a waiting call reaches a restarted peer. */
const longestReconnectMs = 2000;
const firstReconnectMs = 100;

/** How soon the replacement of a lost replica can be found. It also limits the DNS queries during a long outage. */
const resolveAgainMs = 2000;

/**
 * Opens the transport to a peer over sockets.
 *
 * With `dns:///name:port` calls go to all addresses of the name in turn. While the peer cannot be reached, a call waits
 * within its deadline, then fails as `unavailable`. gRPC itself repeats a call only if it has not left this process or
 * the peer has certainly not begun it. Any other retry is the caller's decision: only the caller knows what is idempotent.
 */
export function grpcTransport({
  address,
  log,
  tls,
}: {
  address: string;
  log: Log;
  tls?: PeerTls | undefined;
}): Transport {
  const { credentials, options } = secureChannel(tls);
  const client = new Client(address, credentials, {
    ...options,
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    // DNS gives addresses only: no TXT record changes how we call.
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": mostMessageBytes,
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.keepalive_timeout_ms": keepaliveTimeoutMs,
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.initial_reconnect_backoff_ms": firstReconnectMs,
    "grpc.max_reconnect_backoff_ms": longestReconnectMs,
    "grpc.dns_min_time_between_resolutions_ms": resolveAgainMs,
  });
  const channel = client.getChannel();
  let closed = false;

  logOutages();

  return {
    async call(method, request, options) {
      if (closed) throw peerUnavailable(method.path, "transport closed");
      const placed = placeCall(method, request, options);
      return method.responseDeserialize(await send(method.path, placed, options.signal));
    },
    async close() {
      closed = true;
      client.close();
    },
  };

  async function send(path: string, placed: PlacedCall, signal?: AbortSignal): Promise<Buffer> {
    for (let refusals = 0; ; refusals += 1) {
      const answer = await sendOnce(path, placed, signal);
      if (answer !== streamRefused) return answer;
      if (refusals === mostRefusals) throw peerUnavailable(path, "stream refused again and again");
    }
  }

  function sendOnce(
    path: string,
    { request, deadline, traceparent, requestId }: PlacedCall,
    signal?: AbortSignal,
  ): Promise<Buffer | typeof streamRefused> {
    const metadata = new Metadata({ waitForReady: true });
    metadata.set(traceparentKey, traceparent);
    if (requestId !== undefined) metadata.set(requestIdKey, requestId);
    return new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(path, asIs, asIs, request, metadata, { deadline }, (error, response) => {
        signal?.removeEventListener("abort", cancel);
        if (error?.details === refusedDetails && !signal?.aborted) resolve(streamRefused);
        else if (error !== null) reject(signal?.aborted ? abortReason(signal) : toError(error, path));
        else if (response === undefined) reject(new Error(`${path} answered without a response`));
        else resolve(response);
      });
      const cancel = () => call.cancel();
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  function toError(error: ServiceError, path: string): Error {
    const [details] = error.metadata.get(detailsKey);
    const received: Omit<WireStatus, "name"> = {
      code: error.code,
      message: error.details,
      details: Buffer.isBuffer(details) ? details : undefined,
    };
    if (!isLocalTimeout(received)) return fromStatus(received, path);
    // Without a connection, the call spent all its time waiting for one.
    return channel.getConnectivityState(false) === connectivityState.READY
      ? deadlineExceeded(path)
      : peerUnavailable(path, error.details);
  }

  function logOutages(): void {
    let reachable = true;
    const watch = () => {
      const state = channel.getConnectivityState(false);
      if (state === connectivityState.TRANSIENT_FAILURE && reachable) {
        reachable = false;
        log.warn("peer cannot be reached", { address });
      } else if (state === connectivityState.READY && !reachable) {
        reachable = true;
        log.warn("peer can be reached again", { address });
      }
      channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => {
        if (!closed) watch();
      });
    };
    watch();
  }
}

/**
 * The text of grpc-js when a server refused a stream. HTTP/2 guarantees that the call was not processed, so it may be
 * retried. Happens when a connection reaches its maximum age. grpc-js itself retries once, but the next connection may
 * be as old.
 */
const refusedDetails = "Stream refused by server";
const streamRefused = Symbol("stream refused");
const mostRefusals = 10;

/** Messages are encoded outside of grpc-js, which would turn an encoding error into a status. */
const asIs = (bytes: Buffer) => bytes;
