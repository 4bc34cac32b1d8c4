import { Client, connectivityState, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { Log } from "../log.ts";
import type { Transport } from "../rpc.ts";
import { deadlineExceeded, fromStatus, isLocalTimeout, peerUnavailable, type WireStatus } from "./fault-status.ts";
import { defaultMaxMessageBytes } from "./message-size.ts";
import { detailsKey, requestIdKey, traceparentKey } from "./metadata-keys.ts";
import { abortReason, type PlacedCall, placeCall } from "./place-call.ts";

/**
 * A peer that has frozen keeps its connections, and takes its share of the calls until they are given up: within five
 * seconds, also while nobody calls. A process that is only busy answers a ping in time.
 */
const keepaliveMs = 2000;
const keepaliveTimeoutMs = 3000;

/** Shorter than the default timeout of a call, so that a call that waits for a restarted peer meets it. */
const longestReconnectMs = 2000;
const firstReconnectMs = 100;

/** How soon the replacement of a lost replica can be found; it also bounds what a long outage asks of DNS. */
const resolveAgainMs = 2000;

/**
 * Opens the way to a peer over sockets.
 *
 * With `dns:///name:port` calls go round all addresses of the name. A call made
 * while the peer is away waits for it within its deadline, then fails as
 * `unavailable`. gRPC itself repeats only what has not left this process or what the peer has
 * verifiably not begun; anything more is the caller's decision, who knows what is idempotent.
 */
export function grpcTransport({
  address,
  log,
  maxMessageBytes = defaultMaxMessageBytes,
}: {
  address: string;
  log: Log;
  maxMessageBytes?: number;
}): Transport {
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    // Names are resolved for addresses alone: no TXT record decides how we call.
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": maxMessageBytes,
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
      const placed = placeCall(method, request, { ...options, maxMessageBytes });
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
    // Without a connection the whole time went into waiting for one.
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
 * What grpc-js says when a server refused a stream: HTTP/2 promises that the call was not looked at, so sending it again
 * repeats nothing. It happens when a connection reaches its age; grpc-js itself tries once more, and the next connection
 * may be as old.
 */
const refusedDetails = "Stream refused by server";
const streamRefused = Symbol("stream refused");
const mostRefusals = 10;

/** Messages are read and written outside grpc-js, which would wrap what goes wrong there in a status. */
const asIs = (bytes: Buffer) => bytes;
