/** Carries google.rpc.Status: every gRPC library reads it here. */
export const detailsKey = "grpc-status-details-bin";

/** Carries the request id, which a repeated request keeps. */
export const requestIdKey = "tessera-request-id";

/** W3C trace context. */
export const traceparentKey = "traceparent";
