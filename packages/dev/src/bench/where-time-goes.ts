/** What the profiler of V8 tells: calls as a tree, and in which of them the thread was at each sample. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds from the sample before to each one. */
  readonly timeDeltas: readonly number[];
}

/** Parts of the platform in which a scan takes time. */
export const parts = ["HTTP", "gateway", "transport", "service", "database", "relay", "garbage", "Node.js"] as const;
export type Part = (typeof parts)[number];

/** Where the code of each part is. Code that serves all, such as a log or a schema, counts as part of what calls it. */
const homes: readonly (readonly [RegExp, Part])[] = [
  [/packages\/kit\/[^/]+\/bus\/|packages\/engines\/|\/node_modules\/kafkajs\//, "relay"],
  [/packages\/kit\/[^/]+\/pg\/|\/node_modules\/(?:pg|pg-[^/]+)\//, "database"],
  [/packages\/kit\/[^/]+\/rpc|\/protos\/|\/node_modules\/@(?:grpc|bufbuild)\/|^node:(?:internal\/)?http2/, "transport"],
  [/\/services\/[^/]+\/(?:src|dist)\//, "service"],
  [/\/gateway\/(?:src|dist)\//, "gateway"],
  [/^node:_http|\/node_modules\/(?:koa|on-finished|ee-first|delegates)\//, "HTTP"],
];

/** The share of each part in the time that the thread worked. Time in a function counts for the nearest caller that is of a part. */
export function shareOut({ nodes, samples, timeDeltas }: CpuProfile): Record<Part, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callerOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const partOf = (id: number | undefined): Part => {
    const node = id === undefined ? undefined : byId.get(id);
    if (node === undefined) return "Node.js";
    if (node.callFrame.functionName === "(garbage collector)") return "garbage";
    return homes.find(([path]) => path.test(node.callFrame.url))?.[1] ?? partOf(callerOf.get(node.id));
  };
  const times = Object.fromEntries(parts.map((part) => [part, 0])) as Record<Part, number>;
  let worked = 0;
  for (const [index, id] of samples.entries()) {
    if (byId.get(id)?.callFrame.functionName === "(idle)") continue;
    const took = timeDeltas[index] ?? 0;
    times[partOf(id)] += took;
    worked += took;
  }
  for (const part of parts) times[part] = worked === 0 ? 0 : times[part] / worked;
  return times;
}
