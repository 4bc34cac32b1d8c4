/** What tells spans of one name apart. Chosen by hand: nothing secret, nothing personal. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Tracing {
  /** Runs work as a span: a child of the span in the context, and the parent of what the work does and calls. */
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>;
  /** Delivers what is left, for at most five seconds; never throws. */
  shutdown(): Promise<void>;
}

/** Runs the work alone. */
export const untraced: Tracing = { span: (_name, _attributes, work) => work(), shutdown: async () => {} };
