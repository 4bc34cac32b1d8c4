/** Where google.rpc.Status travels: every gRPC library looks for it here. */
export const detailsKey = "grpc-status-details-bin";

/** By which a request is known again when it is repeated. */
export const requestIdKey = "tessera-request-id";

/** W3C trace context. */
export const traceparentKey = "traceparent";
