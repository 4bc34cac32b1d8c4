import { goProgram } from "./go-program.ts";

/** Renders charts. */
export const helm = goProgram({
  name: "helm",
  version: "v4.3.1",
  source: "helm.sh/helm/v4/cmd/helm",
  remedy: "Install Helm 4 from its releases, or Go 1.26 or later.",
});
