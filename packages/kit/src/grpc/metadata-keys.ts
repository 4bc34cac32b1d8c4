/** Where google.rpc.Status travels: every gRPC library looks for it here. */
export const detailsKey = "grpc-status-details-bin";

/** W3C trace context. */
export const traceparentKey = "traceparent";
