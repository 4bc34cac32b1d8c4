/** The data of a span. Chosen by hand: no secrets, no personal data. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Tracing {
  /** Runs work as a span: a child of the span in the context, and the parent of spans within the work. */
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>;
  /** Delivers the remaining spans within five seconds; never throws. */
  shutdown(): Promise<void>;
}

/** Runs the work without a span. */
export const untraced: Tracing = { span: (_name, _attributes, work) => work(), shutdown: async () => {} };
