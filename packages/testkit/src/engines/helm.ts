import { join } from "node:path";
import {
  type Availability,
  enginesFolder,
  findProgram,
  installOnce,
  isExecutable,
  runInstaller,
} from "./engine-process.ts";

const version = "v4.3.1";
const folderName = `helm-${version}`;

/** Whether this machine can render charts. */
export function findHelm(): Availability {
  const installed = isExecutable(join(enginesFolder(), folderName, "helm"));
  if (installed || findProgram("helm") !== undefined || findProgram("go") !== undefined) return { available: true };
  return {
    available: false,
    reason: "there is no helm on the PATH and no Go to build one",
    remedy: "Install Helm 4 from its releases, or Go 1.26 or later.",
  };
}

/** Finds Helm, and builds it if necessary: once per machine, for a minute and a half. */
export async function installHelm(): Promise<string> {
  const found = findHelm();
  if (!found.available) throw new Error(`${found.reason}. ${found.remedy}`);
  const program = findProgram("helm");
  if (program !== undefined) return program;
  // Tests run it for seconds: compiling takes longer than unoptimized code, C and debug data do.
  const plain = ["-gcflags=all=-N -l", "-ldflags=-s -w"];
  const source = `helm.sh/helm/v4/cmd/helm@${version}`;
  const folder = await installOnce(folderName, (draft) =>
    runInstaller("go", ["install", ...plain, source], { env: { GOBIN: draft, CGO_ENABLED: "0" } }),
  );
  return join(folder, "helm");
}
