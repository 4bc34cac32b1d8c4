/** For databases, peers, the bus, files and the operations port: more than they use, on a system that allows enough. */
const reserve = 512;

/** How many client connections fit into the limit of file descriptors. On a small system half of it is reserved. */
export function connectionsWithin(mostFiles: number): number {
  return Math.max(1, mostFiles - Math.min(reserve, Math.ceil(mostFiles / 2)));
}

interface Reporter {
  excludeNetwork?: boolean;
  getReport(): object;
}

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | "unlimited" } };
}

/** The limit of file descriptors of this process; undefined: no limit. */
export function mostOpenFiles(): number | undefined {
  const report: Reporter = process.report;
  // A report with network data would resolve the names of peers.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as Report;
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : undefined;
}
